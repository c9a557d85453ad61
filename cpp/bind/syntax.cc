#include <optional>
#include <utility>

#include "bind/arrays.h"
#include "bind/core.h"
#include "syntax/alignment.h"
#include "syntax/dependency.h"
#include "syntax/pharaoh.h"
#include "syntax/symmetrize.h"

namespace treeglot {
namespace {

constexpr std::size_t kLongestRepr = 120;  // characters of a value shown in full

// ---------------------------------------------------------------- Dependency

void bind_dependency(nb::module_& m) {
  using Texts = std::vector<std::string_view>;
  const auto optional_list = [](const Strings& strings) -> nb::object {
    return strings.empty() ? nb::none() : nb::object(to_list(strings));
  };
  nb::class_<Dependency>(m, "Dependency", "A head for every word: a position, -1 for a root, -2 for none.")
      .def(
          "__init__",
          [](Dependency* self, const Texts& words, std::vector<std::int32_t> heads, const std::optional<Texts>& tags,
             const std::optional<Texts>& relations) {
            new (self) Dependency(to_strings(words), std::move(heads), to_strings(tags.value_or(Texts())),
                                  to_strings(relations.value_or(Texts())));
          },
          "words"_a, "heads"_a, "tags"_a = nb::none(), "relations"_a = nb::none(),
          "tags and relations are as long as words, or None.")
      .def_ro_static("ROOT", &Dependency::kRoot, "The head of a root.")
      .def_ro_static("NO_HEAD", &Dependency::kNoHead, "The head of a word that the parser gave none.")
      .def_prop_ro(
          "words", [](const Dependency& d) { return to_list(d.words()); }, nb::sig("def words(self) -> list[str]"),
          "The words.")
      .def_prop_ro(
          "heads", [](const Dependency& d) { return view(d.heads()); }, nb::rv_policy::reference_internal,
          "The head of every word: a view.")
      .def_prop_ro(
          "tags", [=](const Dependency& d) { return optional_list(d.tags()); },
          nb::sig("def tags(self) -> list[str] | None"), "The tag of every word, or None.")
      .def_prop_ro(
          "relations", [=](const Dependency& d) { return optional_list(d.relations()); },
          nb::sig("def relations(self) -> list[str] | None"), "The relation of every word to its head, or None.")
      .def("__len__", &Dependency::size)
      .def("__eq__", &equal<Dependency>, "other"_a.none())
      .def("__hash__",
           [](const Dependency& d) {
             return hash_of(d.words(), hash_of(d.heads(), hash_of(d.tags(), hash_of(d.relations(), 0))));
           })
      .def("__getstate__",
           [](const Dependency& d) {
             return std::tuple(to_pickle(d.words()), to_bytes(d.heads()), to_pickle(d.tags()),
                               to_pickle(d.relations()));
           })
      .def("__setstate__",
           [](Dependency& self, const std::tuple<PickledStrings, nb::bytes, PickledStrings, PickledStrings>& state) {
             const auto& [words, heads, tags, relations] = state;
             new (&self) Dependency(from_pickle(words), from_bytes<std::int32_t>(heads), from_pickle(tags),
                                    from_pickle(relations));
           })
      .def("__repr__", [=](const Dependency& d) {
        if (d.size() > kLongestRepr / 6) return "<Dependency of " + std::to_string(d.size()) + " words>";
        std::string out = "Dependency(" + nb::cast<std::string>(nb::repr(to_list(d.words()))) + ", [";
        for (std::size_t i = 0; i < d.size(); ++i) out += (i == 0 ? "" : ", ") + std::to_string(d.head(i));
        out += "]";
        if (!d.tags().empty()) out += ", tags=" + nb::cast<std::string>(nb::repr(to_list(d.tags())));
        if (!d.relations().empty()) out += ", relations=" + nb::cast<std::string>(nb::repr(to_list(d.relations())));
        return out + ")";
      });
}

// ---------------------------------------------------------------- Alignment

static_assert(sizeof(Link) == 2 * sizeof(std::uint32_t));

std::span<const std::uint32_t> flat(const Alignment& alignment) {
  return {reinterpret_cast<const std::uint32_t*>(alignment.links().data()), 2 * alignment.size()};
}

Alignment from_flat(std::span<const std::uint32_t> numbers) {
  std::vector<Link> links;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) links.push_back({numbers[i], numbers[i + 1]});
  return Alignment(std::move(links));
}

void bind_alignment(nb::module_& m) {
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  using Links = nb::ndarray<nb::numpy, const std::uint32_t, nb::shape<-1, 2>, nb::c_contig>;
  const auto pairs = [](const Alignment& a) {
    Pairs out;
    for (const Link link : a.links()) out.emplace_back(link.source, link.target);
    return out;
  };
  nb::class_<Alignment>(m, "Alignment", "A set of (source, target) links, sorted.")
      .def(
          "__init__",
          [](Alignment* self, const nb::iterable& links) {
            std::vector<Link> out;
            for (nb::handle item : links) {
              std::pair<std::uint32_t, std::uint32_t> link;
              if (!nb::try_cast(item, link)) throw nb::value_error("a link must be a pair of positions from 0");
              out.push_back({link.first, link.second});
            }
            new (self) Alignment(std::move(out));
          },
          "links"_a = nb::tuple(),
          nb::sig("def __init__(self, links: collections.abc.Iterable[tuple[int, int]] = ()) -> None"),
          "Positions count from 0; doubles are dropped.")
      .def_static("parse", &parse_pharaoh, "text"_a, "The links of a Pharaoh line: 0-0 1-2.")
      .def("__str__", &write_pharaoh)
      .def("__repr__",
           [](const Alignment& a) {
             if (a.size() > kLongestRepr / 4) return "<Alignment of " + std::to_string(a.size()) + " links>";
             return "Alignment.parse('" + write_pharaoh(a) + "')";
           })
      .def("__len__", &Alignment::size)
      .def(
          "__iter__", [=](const Alignment& a) { return nb::iter(nb::cast(pairs(a))); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[tuple[int, int]]"))
      .def(
          "__contains__",
          [](const Alignment& a, std::pair<std::int64_t, std::int64_t> link) {
            const auto fits = [](std::int64_t i) { return i >= 0 && i <= std::int64_t{0xffffffff}; };
            return fits(link.first) && fits(link.second) &&
                   a.contains({static_cast<std::uint32_t>(link.first), static_cast<std::uint32_t>(link.second)});
          },
          "link"_a)
      .def("__eq__", &equal<Alignment>, "other"_a.none())
      .def("__hash__", [](const Alignment& a) { return hash_of(flat(a), 0); })
      .def("__getstate__", [](const Alignment& a) { return to_bytes(flat(a)); })
      .def("__setstate__",
           [](Alignment& self, const nb::bytes& state) {
             new (&self) Alignment(from_flat(from_bytes<std::uint32_t>(state)));
           })
      .def_prop_ro(
          "links", [](const Alignment& a) { return Links(flat(a).data(), {a.size(), 2}); },
          nb::rv_policy::reference_internal, "The links as rows (source, target): a view.")
      .def("transpose", &Alignment::transpose, "The alignment with source and target exchanged.")
      .def("check", &Alignment::check, "source_length"_a, "target_length"_a,
           "Refuse a link outside a sentence pair of these lengths.");

  nb::enum_<Symmetrization>(m, "Symmetrization", "How the alignments of two directions become one.")
      .value("intersection", Symmetrization::intersection)
      .value("union", Symmetrization::union_)
      .value("grow_diag", Symmetrization::grow_diag)
      .value("grow_diag_and", Symmetrization::grow_diag_and)
      .value("grow_diag_final", Symmetrization::grow_diag_final)
      .value("grow_diag_final_and", Symmetrization::grow_diag_final_and);
  m.def("symmetrize", &symmetrize, "forward"_a, "backward"_a, "method"_a,
        "One alignment from those of two directions, both from source to target.");
}

}  // namespace

void bind_syntax(nb::module_& m) {
  bind_dependency(m);
  bind_alignment(m);
}

}  // namespace treeglot
