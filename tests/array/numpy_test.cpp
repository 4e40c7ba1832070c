// Files exchanged with numpy itself, in both directions; skipped where python3 has no numpy.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "dissent/array/npy.hpp"
#include "dissent/array/npz.hpp"
#include "dissent/base/error.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

class Numpy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) {
      GTEST_SKIP() << "python3 with numpy is not installed";
    }
  }

  // Runs a script in the test's folder; its assertions are ours.
  void python(const std::string& script) {
    dir_.write("script.py", "import numpy as np\n" + script);
    const std::string command = "cd '" + dir_.path() + "' && /usr/bin/python3 script.py";
    ASSERT_EQ(std::system(command.c_str()), 0) << script;
  }

  std::vector<double> count_up(std::size_t count) {
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), 0.0);
    return values;
  }

  TempDir dir_;
};

TEST_F(Numpy, ReadsWhatNumpySaves) {
  python(R"(
a = np.arange(60).reshape(3, 4, 5)
for name in ['f4', 'f8', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8']:
    np.save(f'{name}_c.npy', a.astype(name))
    np.save(f'{name}_f.npy', np.asfortranarray(a.astype(name)))
np.save('bool.npy', a % 2 == 1)
np.save('scalar.npy', np.float32(2.5))
np.save('empty.npy', np.zeros((0, 7)))
np.save('big.npy', a.astype('>f4'))
with open('v3.npy', 'wb') as f:
    np.lib.format.write_array(f, a.astype('f4'), version=(3, 0))
np.savez('stored.npz', mean=a.astype('f4'), stddev=np.asfortranarray(a + 1.0), w=np.float64(3))
np.savez_compressed('deflated.npz', mean=a.astype('f4'), stddev=np.asfortranarray(a + 1.0), zeros=np.zeros(10**6))
)");
  for (const std::string name : {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"}) {
    for (const std::string order : {"_c", "_f"}) {
      const Array array = read_npy(dir_.file(name + order + ".npy"));
      EXPECT_EQ(array.shape(), (Shape{3, 4, 5}));
      EXPECT_EQ(array.to<double>(), count_up(60)) << name << order;
    }
  }
  EXPECT_EQ(read_npy(dir_.file("v3.npy")).to<double>(), count_up(60));
  EXPECT_EQ(read_npy(dir_.file("bool.npy")).to<float>()[1], 1.0F);
  EXPECT_EQ(read_npy(dir_.file("scalar.npy")).to<float>(), std::vector<float>{2.5F});
  EXPECT_EQ(read_npy(dir_.file("empty.npy")).shape(), (Shape{0, 7}));
  EXPECT_THROW(read_npy(dir_.file("big.npy")), InputError);
  for (const std::string name : {"stored.npz", "deflated.npz"}) {
    const NpzFile file(dir_.file(name));
    EXPECT_EQ(file.load("mean").to<double>(), count_up(60));
    EXPECT_EQ(file.load("stddev").to<double>()[59], 60);
    EXPECT_EQ(file.load("stddev").to<double>()[1], 2);
    std::vector<float> buffer;
    EXPECT_EQ(file.open("mean").rows(1, 3, buffer)[0], 20);
  }
  EXPECT_EQ(NpzFile(dir_.file("deflated.npz")).load("zeros").size(), 1000000U);
}

TEST_F(Numpy, NumpyReadsWhatWeWrite) {
  const std::vector<double> values = count_up(24);
  const std::vector<float> narrow = {0.1F, -2, 3e-20F};
  const std::vector<std::int64_t> whole = {-(std::int64_t{1} << 60), 7};
  write_npy(dir_.file("a.npy"), ArrayView(std::span<const double>(values), {2, 3, 4}));
  write_npy(dir_.file("s.npy"), ArrayView(std::span<const double>(values).first(1), {}));
  for (const bool deflate : {false, true}) {
    for (const bool zip64 : {false, true}) {
      write_npz(dir_.file(fmt::format("a{}.npz", 2 * deflate + zip64)),
                {{"a", ArrayView(std::span<const double>(values), {2, 3, 4})},
                 {"f", ArrayView(narrow)},
                 {"i", ArrayView(whole)},
                 {"none", ArrayView(std::span<const float>(), {0, 3})}},
                {.deflate = deflate, .force_zip64 = zip64});
    }
  }
  python(R"(
import zipfile
a = np.arange(24.0).reshape(2, 3, 4)
np.save('numpy.npy', a)
assert (np.load('a.npy') == a).all()
if np.lib.NumpyVersion(np.__version__) >= '1.24.0':
    assert open('a.npy', 'rb').read() == open('numpy.npy', 'rb').read()
assert np.load('s.npy').shape == () and np.load('s.npy') == 0
for k in range(4):
    assert zipfile.ZipFile(f'a{k}.npz').testzip() is None
    with np.load(f'a{k}.npz') as z:
        assert z.files == ['a', 'f', 'i', 'none'], z.files
        assert (z['a'] == a).all() and z['a'].dtype == np.float64
        assert (z['f'] == np.array([0.1, -2, 3e-20], 'f4')).all() and z['f'].dtype == np.float32
        assert (z['i'] == [-2**60, 7]).all() and z['i'].dtype == np.int64
        assert z['none'].shape == (0, 3)
)");
}

}  // namespace
}  // namespace dissent
