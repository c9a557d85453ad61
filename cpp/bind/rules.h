// What the bindings of rules share: limits and the options of Hiero's extractor, and who adds to them.
#pragma once

#include "bind/core.h"
#include "bind/options.h"
#include "rules/hiero.h"

namespace nanobind::detail {

template <>
struct type_caster<treeglot::Limit> {
  NB_TYPE_CASTER(treeglot::Limit, const_name("int"))

  bool from_python(handle given, std::uint8_t flags, cleanup_list*) noexcept {
    long long number = 0;
    if (PyBool_Check(given.ptr()) || !try_cast(given, number, flags & std::uint8_t(cast_flags::convert))) return false;
    if (number < -1 || number > treeglot::kNoLimit) return false;
    value = number == -1 ? treeglot::kNoLimit : static_cast<std::uint32_t>(number);
    return true;
  }
};

}  // namespace nanobind::detail

namespace treeglot {

Binder bind_rules_on_demand;  // adds indexes of what bind_rules_extract collects

TREEGLOT_OPTIONS(HieroOptions, max_phrase, max_target_phrase, max_symbols, max_nonterminals, min_hole, adjacent,
                 loose_source, loose_target, phrase_loose_source, phrase_loose_target, core);

}  // namespace treeglot
