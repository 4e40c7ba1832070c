#include "dissent/array/npz.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>

#include "dissent/base/error.hpp"
#include "support/full_disk.hpp"
#include "support/property.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string le(std::uint64_t value, int count) {
  std::string out;
  for (int k = 0; k < count; ++k) {
    out += static_cast<char>(value >> (8 * k) & 0xFF);
  }
  return out;
}

std::string deflated(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 16, '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// One member of an archive made by hand; every field can be made to lie.
struct Member {
  std::string name = "a.npy";
  std::string content;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  int method = 0;
  int flags = 0;
  bool zip64 = false;
  std::int64_t offset = -1;  // -1: where it really is
};

Member stored(const std::string& name, const std::string& data) {
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size());
  return {.name = name, .content = data, .size = data.size(), .crc = static_cast<std::uint32_t>(crc)};
}

Member compressed(const std::string& name, const std::string& data) {
  Member member = stored(name, data);
  member.content = deflated(data);
  member.method = 8;
  return member;
}

std::string zip(const std::vector<Member>& members, bool zip64_end = false) {
  std::string file;
  std::string directory;
  for (const Member& m : members) {
    const std::uint64_t offset = m.offset >= 0 ? static_cast<std::uint64_t>(m.offset) : file.size();
    file += le(0x04034b50, 4) + le(20, 2) + le(m.flags, 2) + le(m.method, 2) + le(0, 4) + le(m.crc, 4);
    file += le(m.content.size(), 4) + le(m.size, 4) + le(m.name.size(), 2) + le(0, 2) + m.name + m.content;
    const std::string wide =
        m.zip64 ? le(1, 2) + le(24, 2) + le(m.size, 8) + le(m.content.size(), 8) + le(offset, 8) : "";
    const std::uint64_t full = 0xFFFFFFFF;
    directory += le(0x02014b50, 4) + le(20, 2) + le(20, 2) + le(m.flags, 2) + le(m.method, 2) + le(0, 4) + le(m.crc, 4);
    directory += le(m.zip64 ? full : m.content.size(), 4) + le(m.zip64 ? full : m.size, 4) + le(m.name.size(), 2);
    directory += le(wide.size(), 2) + le(0, 2) + le(0, 2) + le(0, 2) + le(0, 4) + le(m.zip64 ? full : offset, 4);
    directory += m.name + wide;
  }
  const std::uint64_t begin = file.size();
  file += directory;
  if (zip64_end) {
    const std::uint64_t end64 = file.size();
    file += le(0x06064b50, 4) + le(44, 8) + le(45, 2) + le(45, 2) + le(0, 4) + le(0, 4) + le(members.size(), 8) +
            le(members.size(), 8) + le(directory.size(), 8) + le(begin, 8);
    file += le(0x07064b50, 4) + le(0, 4) + le(end64, 8) + le(1, 4);
    return file + le(0x06054b50, 4) + le(0, 4) + le(0xFFFF, 2) + le(0xFFFF, 2) + le(0xFFFFFFFF, 4) + le(0xFFFFFFFF, 4) +
           le(0, 2);
  }
  return file + le(0x06054b50, 4) + le(0, 4) + le(members.size(), 2) + le(members.size(), 2) + le(directory.size(), 4) +
         le(begin, 4) + le(0, 2);
}

std::string npy_of(const std::vector<float>& values) {
  std::string file = format_npy_header(DType::kFloat32, {values.size()});
  return file + std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4);
}

std::vector<float> load(const std::string& archive, const std::string& name) {
  return NpzFile(bytes_of(archive), "x.npz").load(name).to<float>();
}

std::string refusal(const std::string& archive, const std::string& name = "a", NpzOptions options = {}) {
  return message_of<InputError>([&] { NpzFile(bytes_of(archive), "bad.npz", options).load(name); });
}

const std::vector<float> kValues = {1, -2.5, 3};

TEST(Npz, ReadsArchivesMadeByHand) {
  std::vector<Member> members = {stored("a.npy", npy_of(kValues)), stored("readme.txt", "hello"),
                                 compressed("dir/b.npy", npy_of({7}))};
  for (const bool zip64 : {false, true}) {
    for (Member& member : members) {
      member.zip64 = zip64;
    }
    const std::string archive = zip(members, zip64);
    const NpzFile file(bytes_of(archive), "x.npz");
    EXPECT_EQ(file.names(), (std::vector<std::string>{"a", "dir/b"}));
    EXPECT_TRUE(file.contains("a"));
    EXPECT_FALSE(file.contains("readme.txt"));
    EXPECT_EQ(load(archive, "a"), kValues);
    EXPECT_EQ(load(archive, "dir/b"), std::vector<float>{7});
  }
  EXPECT_TRUE(NpzFile(bytes_of(zip({})), "x.npz").names().empty());
}

TEST(Npz, ACommentBehindTheDirectoryIsNoMatter) {
  std::string archive = zip({stored("a.npy", npy_of(kValues))});
  archive[archive.size() - 2] = 5;
  archive += "hello";
  EXPECT_EQ(load(archive, "a"), kValues);
}

TEST(Npz, RefusesWhatIsNoArchive) {
  EXPECT_EQ(refusal(""), "bad.npz: is empty; a ZIP archive was expected");
  EXPECT_TRUE(contains(refusal("short"), "bad.npz: is not a ZIP archive"));
  EXPECT_TRUE(contains(refusal(std::string(1000, 'x')), "no end record"));
  EXPECT_TRUE(contains(refusal(npy_of(kValues)), "is a single NPY array"));
  const std::string good = zip({stored("a.npy", npy_of(kValues))});
  EXPECT_EQ(refusal(good, "b"), "bad.npz: has no array 'b'; it has: a");
  // Cut anywhere, at either end, it is refused; no byte beyond the cut is touched (the sanitizers watch).
  for (std::size_t size = 0; size < good.size(); ++size) {
    const std::vector<char> front(good.begin(), good.begin() + static_cast<long>(size));
    EXPECT_THROW(NpzFile(std::as_bytes(std::span(front)), "cut").load("a"), InputError) << size;
    const std::vector<char> back(good.begin() + static_cast<long>(size) + 1, good.end());
    EXPECT_THROW(NpzFile(std::as_bytes(std::span(back)), "cut").load("a"), InputError) << size;
  }
}

TEST(Npz, RefusesDamagedAndEncryptedMembers) {
  Member damaged = stored("a.npy", npy_of(kValues));
  damaged.content.back() ^= 1;
  EXPECT_TRUE(contains(refusal(zip({damaged})), "bad.npz[a]: checksum (CRC-32) is 0x"));
  Member wrong_crc = compressed("a.npy", npy_of(kValues));
  wrong_crc.crc ^= 1;
  EXPECT_TRUE(contains(refusal(zip({wrong_crc})), "bad.npz[a]: checksum (CRC-32)"));
  Member broken = compressed("a.npy", npy_of(kValues));
  broken.content[0] = '\xFF';
  EXPECT_TRUE(contains(refusal(zip({broken})), "bad.npz[a]: deflated data is damaged"));
  Member encrypted = stored("a.npy", npy_of(kValues));
  encrypted.flags = 1;
  EXPECT_EQ(refusal(zip({encrypted})), "bad.npz[a]: is encrypted; save it without a password");
  Member method = stored("a.npy", npy_of(kValues));
  method.method = 93;
  EXPECT_TRUE(contains(refusal(zip({method})), "compressed by method 93"));
  // A member that cannot be read does not hinder the others.
  EXPECT_EQ(load(zip({encrypted, stored("b.npy", npy_of({5}))}), "b"), std::vector<float>{5});
}

TEST(Npz, RefusesADirectoryThatLies) {
  const Member good = stored("a.npy", npy_of(kValues));
  EXPECT_EQ(refusal(zip({good, good})), "bad.npz: ZIP member 'a.npy' occurs twice");
  Member same_bytes = stored("b.npy", npy_of(kValues));
  same_bytes.offset = 0;
  EXPECT_TRUE(contains(refusal(zip({good, same_bytes})), "another name or method in its own header"));
  Member inner = stored("b.npy", npy_of(kValues));  // an archive hidden inside the first member's content
  const std::string hidden = zip({inner}).substr(0, 35 + inner.content.size());
  Member outer = stored("a.npy", hidden);
  inner.offset = 35;
  EXPECT_TRUE(contains(refusal(zip({outer, inner})), "overlap"));
  Member outside = good;
  outside.offset = 100000;
  EXPECT_TRUE(contains(refusal(zip({outside})), "reaches beyond byte"));
  Member size = good;
  size.size += 4;
  EXPECT_TRUE(contains(refusal(zip({size})), "is stored in 140 bytes but declares 144"));
  std::string count = zip({good});
  count[count.size() - 12] = 2;
  EXPECT_THROW(NpzFile(bytes_of(count), "x"), InputError);
}

TEST(Npz, ZipBombsAreRefusedBeforeTheyGrow) {
  // The declared size is impossible for so few deflated bytes.
  Member impossible = compressed("a.npy", npy_of(kValues));
  impossible.size = std::uint64_t{1} << 40;
  impossible.zip64 = true;
  EXPECT_TRUE(contains(refusal(zip({impossible})), "cannot hold that many"));
  // Possible, but over the limit: one megabyte of zeros in a thousand bytes.
  const Member zeros = compressed("a.npy", npy_of(std::vector<float>(1 << 18)));
  EXPECT_LT(zeros.content.size(), 2000U);
  EXPECT_TRUE(contains(refusal(zip({zeros}), "a", {.max_bytes = 1000000}), "the limit is 1000000"));
  EXPECT_EQ(load(zip({zeros}), "a").size(), std::size_t{1} << 18);
  // The archive and the NPY header disagree.
  Member more = zeros;
  more.size += 400;
  EXPECT_TRUE(contains(refusal(zip({more})), "bad.npz[a]: "));
  Member less = zeros;
  less.size -= 400;
  EXPECT_TRUE(contains(refusal(zip({less})), "is truncated: shape (262144,) of float32 needs 1048576 bytes"));
  // Both declare little, but the data goes on.
  Member longer = compressed("a.npy", npy_of(kValues) + std::string(5000000, '\0'));
  longer.size = npy_of(kValues).size();
  EXPECT_TRUE(contains(refusal(zip({longer})), "goes on beyond its declared size"));
  // Both declare much, but the data ends early.
  Member shorter = compressed("a.npy", format_npy_header(DType::kFloat32, {20000}) + std::string(400, '\0'));
  shorter.size = 128 + 80000;
  shorter.content += std::string(200, '\0');
  EXPECT_TRUE(contains(refusal(zip({shorter})), "shorter than its declared size"));
}

TEST(Npz, WritesWhatItReads) {
  const TempDir dir;
  const std::string path = dir.file("w.npz");
  test::check_property(
      100, [&](const std::vector<float>& a, const std::vector<double>& b, const std::vector<std::int64_t>& c) {
        for (int mode = 0; mode < 4; ++mode) {
          write_npz(path, {{"mean", ArrayView(a)}, {"x", ArrayView(b)}, {"a longer name", ArrayView(c)}},
                    {.deflate = mode % 2 == 1, .force_zip64 = mode >= 2});
          const auto arrays = read_npz(path);
          RC_ASSERT(arrays.size() == 3U);
          RC_ASSERT(arrays[2].first == "a longer name");
          const auto same = [](const Array& array, const auto& values) {
            return array.size() == values.size() &&
                   (values.empty() || std::memcmp(array.bytes().data(), values.data(), array.bytes().size()) == 0);
          };
          RC_ASSERT(same(arrays[0].second, a) && same(arrays[1].second, b) && same(arrays[2].second, c));
        }
      });
}

TEST(Npz, StoredMembersAreMappedInPlace) {
  const TempDir dir;
  std::vector<double> values(1000);
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = static_cast<double>(k);
  }
  write_npz(dir.file("m.npz"),
            {{"a", ArrayView(kValues)}, {"b", ArrayView(std::span<const double>(values), {100, 10})}});
  const NpyFile rows = NpzFile(dir.file("m.npz")).open("b");  // outlives the archive object
  std::vector<double> buffer;
  const double* some = rows.rows(50, 60, buffer);
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(some[0], 500);
  rows.release(0, 60);
  EXPECT_EQ(rows.rows(99, 100, buffer)[9], 999);
  EXPECT_EQ(rows.source(), dir.file("m.npz") + "[b]");
}

TEST(Npz, MisalignedStoredMembersAreCopied) {
  for (const std::string name : {"a.npy", "ab.npy", "abc.npy", "abcd.npy"}) {
    const std::string archive = zip({stored(name, npy_of(kValues))});
    const Array array = NpzFile(bytes_of(archive), "x").load(name.substr(0, name.size() - 4));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.bytes().data()) % 4, 0U);
    EXPECT_EQ(array.to<float>(), kValues);
  }
}

TEST(Npz, WriterRefusesBadNamesAndLeavesNothing) {
  const TempDir dir;
  const ArrayView view(kValues);
  EXPECT_TRUE(contains(message_of<InputError>([&] {
                         write_npz(dir.file("d.npz"), {{"a", view}, {"a", view}});
                       }),
                       "'a.npy' is given twice"));
  const std::string zero("a\0b", 3);
  EXPECT_THROW(write_npz(dir.file("d.npz"), {{zero, view}}), InputError);
  std::string message;
  const std::vector<double> values(100000, 1.0);
  {
    const FullDisk disk(10000);
    message = message_of<SystemError>([&] { write_npz(dir.file("full.npz"), {{"a", ArrayView(values)}}); });
  }
  EXPECT_TRUE(contains(message, "full.npz: write failed"));
  EXPECT_TRUE(dir.list().empty());
}

}  // namespace
}  // namespace dissent
