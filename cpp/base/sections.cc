#include "base/sections.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <utility>

#include "base/held_pages.h"
#include "base/streamed_section.h"

namespace treeglot {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little endian");

constexpr char kMagic[8] = {'t', 'r', 'e', 'e', 'g', 'l', 'o', 't'};
constexpr std::uint32_t kContainerVersion = 2;
constexpr const char* kMakeAgain =
    ": make it again with the command that made it, such as treeglot train, lm compile or neural train";

struct Header {
  char magic[8];
  std::uint32_t container_version;
  std::uint32_t version;  // of the kind
  char kind[16];          // zero-padded
  std::uint64_t file_size;
  std::uint64_t sections;
  std::uint64_t zero;
  std::uint64_t checksum;  // of the header, with 0 in this place, and the table
};

struct Entry {
  char name[32];  // zero-padded
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t zero[2];
};

static_assert(sizeof(Header) == Sections::kAlignment && sizeof(Entry) == Sections::kAlignment);

constexpr std::uint64_t aligned(std::uint64_t size) {
  return (size + Sections::kAlignment - 1) / Sections::kAlignment * Sections::kAlignment;
}

template <std::size_t N>
std::string_view text_of(const char (&padded)[N]) {
  return {padded, static_cast<std::size_t>(std::find(padded, padded + N, '\0') - padded)};
}

template <std::size_t N>
void set_text(char (&padded)[N], std::string_view text) {
  if (text.size() >= N || text.find('\0') != std::string_view::npos)
    throw std::invalid_argument("the name " + quoted(text) + " is longer than " + std::to_string(N - 1) + " bytes");
  std::memset(padded, 0, N);
  std::memcpy(padded, text.data(), text.size());
}

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0) {
  Checksum sum(seed);
  sum.add(bytes);
  return sum.sum();
}

std::uint64_t header_checksum(Header header, std::span<const std::byte> table) {
  header.checksum = 0;
  return checksum(table, checksum(std::as_bytes(std::span(&header, 1))));
}

// What lies in memory, mapped or fresh, is padded with zeros there too.
std::span<const std::byte> padded(std::span<const std::byte> bytes) { return {bytes.data(), aligned(bytes.size())}; }

}  // namespace

Sections::Sections(std::string_view kind, std::uint32_t version) : kind_(kind), version_(version) {}

bool Sections::begins(std::string_view bytes) { return bytes.starts_with(std::string_view(kMagic, sizeof kMagic)); }

std::string_view Sections::kind_of(std::string_view bytes) {
  if (!begins(bytes) || bytes.size() < sizeof(Header)) return {};
  const std::string_view padded = bytes.substr(offsetof(Header, kind), sizeof Header{}.kind);
  return padded.substr(0, padded.find('\0'));
}

Sections Sections::map(const std::string& path, std::string_view kind, std::uint32_t version, Opening how) {
  constexpr std::size_t kWorthAThread = 1 << 20;
  Sections mapped;
  mapped.file_ = path;
  mapped.how_ = how;
  mapped.pages_.push_back(std::make_shared<Pages>(Pages::map(path)));
  if (how == Opening::background && mapped.pages_.front()->bytes().size() < kWorthAThread)
    mapped.how_ = Opening::verified;
  mapped.read_table(kind, version);
  return mapped;
}

Sections Sections::open(const std::string& path, std::string_view kind, std::uint32_t version, bool verify) {
  Sections opened = map(path, kind, version, verify ? Opening::verified : Opening::trusted);
  if (verify) opened.verify();
  return opened;
}

Sections Sections::to_verify(const Stop* stop) const {
  Sections out;
  out.file_ = file_;
  out.kind_ = kind_;
  out.version_ = version_;
  out.how_ = Opening::verified;
  out.stop_ = stop;
  out.pages_ = pages_;
  out.sections_ = sections_;
  out.blocks_ = blocks_;
  return out;
}

void Sections::read_table(std::string_view kind, std::uint32_t version) {
  const std::span<const std::byte> all = pages_.front()->bytes();
  const std::string_view text(reinterpret_cast<const char*>(all.data()), all.size());
  if (!begins(text)) {
    if (text.empty()) fail("is empty; expected a compiled file of kind " + quoted(kind));
    fail("begins with " + quoted(text.substr(0, sizeof kMagic)) + "; expected a compiled file of kind " + quoted(kind));
  }
  if (all.size() < sizeof(Header)) fail("is cut short: it ends within its header");
  Header header;
  std::memcpy(&header, all.data(), sizeof header);
  if (header.container_version != kContainerVersion)
    fail("has version " + std::to_string(header.container_version) + " of the container; expected version " +
         std::to_string(kContainerVersion) + kMakeAgain);
  const std::uint64_t room = (all.size() - sizeof header) / sizeof(Entry);
  if (header.sections <= room &&
      header_checksum(header, all.subspan(sizeof header, header.sections * sizeof(Entry))) != header.checksum)
    fail("is damaged: the checksum of its header does not fit");
  if (header.file_size != all.size() || header.sections > room)
    fail("is " + std::to_string(all.size()) + " bytes long; its header says " + std::to_string(header.file_size) +
         (all.size() < header.file_size ? ": it is cut short" : ": it is damaged"));
  kind_ = text_of(header.kind);
  version_ = header.version;
  if (kind_ != kind) fail("is a file of kind " + quoted(kind_) + "; expected one of kind " + quoted(kind));
  if (version_ != version)
    fail("has version " + std::to_string(version_) + " of the format " + quoted(kind) + "; expected version " +
         std::to_string(version) + kMakeAgain);

  std::uint64_t expected = sizeof header + header.sections * sizeof(Entry);
  for (std::uint64_t i = 0; i < header.sections; ++i) {
    Entry entry;
    std::memcpy(&entry, all.data() + sizeof header + i * sizeof entry, sizeof entry);
    const std::uint64_t left = all.size() - expected;
    if (entry.offset != expected || entry.size > left || aligned(entry.size) > left)
      fail("is damaged: section " + std::to_string(i) + " does not lie where it should");
    const std::string name(text_of(entry.name));
    sections_.push_back({name, all.subspan(expected, entry.size)});
    expected += aligned(entry.size);
  }
  if (all.size() - expected != sums_size(expected)) fail("is damaged: its checksums do not follow its last section");
  if (!untrusted()) return;
  blocks_ = std::make_shared<Blocks>(all.first(expected), all.subspan(expected));
  if (!blocks_->end_is_sound()) fail("is damaged: the checksum of its checksums does not fit");
}

void Sections::verify() const {
  constexpr std::size_t kAtOnce = 1 << 20;
  if (blocks_ == nullptr) return;
  sound_in_pieces(blocks_->content(), stop_, [&](std::span<const std::byte> left) {
    while (!left.empty()) {
      stop_here(stop_);
      const std::span<const std::byte> piece = left.first(std::min(left.size(), kAtOnce));
      touch(piece);
      left = left.subspan(piece.size());
    }
    return true;
  });
}

void Sections::fail_block(std::size_t block) const {
  const std::span<const std::byte> bytes = blocks_->block(block);
  const std::size_t begin = block * kBlock;
  std::string names;
  std::size_t count = 0;
  for (const Section& section : sections_) {
    const std::span<const std::byte> own = padded(section.bytes);
    if (own.empty() || own.data() >= bytes.data() + bytes.size() || bytes.data() >= own.data() + own.size()) continue;
    names += (count++ == 0 ? " " : ", ") + quoted(section.name);
  }
  fail("is damaged: the checksum of its bytes " + std::to_string(begin) + " to " +
       std::to_string(begin + bytes.size() - 1) + " does not fit; they are in " +
       (count == 0 ? "its header" : "its section") + (count > 1 ? "s" : "") + names);
}

void Sections::fail(const std::string& problem) const { throw DamageError(file_, 0, problem); }

const Sections::Section* Sections::find(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(), [&](const Section& s) { return s.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

std::vector<std::string> Sections::names() const {
  std::vector<std::string> out;
  for (const Section& section : sections_) out.push_back(section.name);
  return out;
}

std::span<std::byte> Sections::add_bytes(std::string_view name, std::size_t size) {
  adopt(name, Pages::fresh(aligned(size)));
  sections_.back().bytes = sections_.back().bytes.first(size);
  return pages_.back()->writable().first(size);
}

void Sections::adopt(std::string_view name, Pages pages) {
  if (find(name) != nullptr) throw std::invalid_argument("there is a section " + quoted(name) + " already");
  if (pages.bytes().size() % kAlignment != 0) throw std::invalid_argument("a section in pages is aligned");
  pages_.push_back(std::make_shared<Pages>(std::move(pages)));
  sections_.push_back({std::string(name), pages_.back()->bytes()});
}

std::span<const std::byte> Sections::values(std::string_view name, std::size_t value_size) const {
  const Section* const section = find(name);
  if (section == nullptr) fail("has no section " + quoted(name));
  if (section->bytes.size() % value_size != 0)
    fail("has " + std::to_string(section->bytes.size()) + " bytes in its section " + quoted(name) +
         "; expected a multiple of " + std::to_string(value_size));
  return section->bytes;
}

std::uint64_t Sections::size() const {
  std::uint64_t size = sizeof(Header) + sections_.size() * sizeof(Entry);
  for (const Section& section : sections_) size += aligned(section.bytes.size());
  return size + sums_size(size);
}

namespace {

struct Described {
  std::string_view name;
  std::uint64_t size;
};

// The first bytes of a file with these sections: the header, and the table.
std::vector<std::byte> head_of(std::string_view kind, std::uint32_t version, std::span<const Described> sections) {
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.container_version = kContainerVersion;
  header.version = version;
  set_text(header.kind, kind);
  header.sections = sections.size();
  std::vector<Entry> table(sections.size());
  header.file_size = sizeof header + std::span<const Entry>(table).size_bytes();
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = {};
    set_text(table[i].name, sections[i].name);
    table[i].offset = header.file_size;
    table[i].size = sections[i].size;
    header.file_size += aligned(sections[i].size);
  }
  header.file_size += sums_size(header.file_size);
  const std::span<const std::byte> table_bytes = std::as_bytes(std::span<const Entry>(table));
  header.checksum = header_checksum(header, table_bytes);
  std::vector<std::byte> out(sizeof header + table_bytes.size());
  std::memcpy(out.data(), &header, sizeof header);
  if (!table.empty()) std::memcpy(out.data() + sizeof header, table_bytes.data(), table_bytes.size());
  return out;
}

}  // namespace

void Sections::write(const std::string& path) const {
  verify();
  (void)write_sections(path, kind_, version_, *this, {});
}

namespace {

// Calls take(lines) for the bytes of a section and the zeros after it: whole lines of kAlignment bytes.
void produce_lines(const StreamedSection& section, const std::function<void(std::span<const std::byte>)>& take) {
  constexpr std::size_t kAtOnce = 1 << 20;
  std::vector<std::byte> lines;
  lines.reserve(kAtOnce);
  std::uint64_t seen = 0;
  section.produce([&](std::span<const std::byte> bytes) {
    seen += bytes.size();
    while (!bytes.empty()) {
      const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), kAtOnce - lines.size()));
      lines.insert(lines.end(), piece.begin(), piece.end());
      bytes = bytes.subspan(piece.size());
      if (lines.size() < kAtOnce) continue;
      take(lines);
      lines.clear();
    }
  });
  if (seen != section.size)
    throw std::logic_error("section " + quoted(section.name) + " has " + std::to_string(seen) + " bytes; expected " +
                           std::to_string(section.size));
  lines.resize(aligned(lines.size()));
  take(lines);
}

}  // namespace

std::uint64_t write_sections(const std::string& path, std::string_view kind, std::uint32_t version,
                             const Sections& first, std::span<const StreamedSection> streamed) {
  std::vector<Described> described;
  const std::vector<std::string> names = first.names();
  for (const std::string& name : names) described.push_back({name, first.unverified<std::byte>(name).size()});
  for (const StreamedSection& section : streamed) described.push_back({section.name, section.size});
  NewFile file(path);
  BlockSums sums;
  std::uint64_t size = 0;
  const auto write = [&](std::span<const std::byte> lines) {
    sums.add(lines);
    file.write(lines);
    size += lines.size();
  };
  write(head_of(kind, version, described));
  for (const std::string& name : names) write(padded(first.unverified<std::byte>(name)));
  for (const StreamedSection& section : streamed) produce_lines(section, write);
  const std::vector<std::byte> end = sums.finish();
  file.write(end);
  file.finish();
  return size + end.size();
}

}  // namespace treeglot
