"""dissent score on what is wrong: one line, the right exit code, no file left behind."""

import io
import os
import resource
import struct
import unittest
import zipfile

import numpy as np

from support import SANITIZED, CliTest, dissent, mixture


def npy_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


class BadInput(CliTest):
    def setUp(self):
        super().setUp()
        self.mean, self.stddev = mixture(100)

    def refuse(self, *arguments, says=(), code=2):
        self.run_bad(code, "score", *arguments, "-o", "out.csv", says=says)
        self.run_bad(code, "score", *arguments, "-o", "out.npz", "--threads", 2, says=says)

    def refuse_value(self, array, place, value, *says, **arrays):
        arrays = {"mean": self.mean.copy(), "stddev": self.stddev.copy(), **arrays}
        arrays[array][place] = value
        self.refuse(self.save(**arrays), says=[f"in.npz[{array}]: {array}[", *says])

    def test_values(self):
        for dtype in ("f4", "f8"):
            self.mean, self.stddev = mixture(100, dtype=dtype)
            for value in (np.nan, np.inf, -np.inf):
                self.refuse_value("mean", (70, 2, 1), value, "[70, 2, 1]", "not a finite number")
                self.refuse_value("stddev", (3, 0, 2), value, "[3, 0, 2]", "not a finite number")
            for value in (0, -1):
                self.refuse_value("stddev", (99, 3, 0), value, f"[99, 3, 0] = {value} is not positive")

    def test_the_first_bad_value_is_named_on_any_number_of_threads(self):
        self.mean, self.stddev = mixture(1000)
        self.stddev[100:, 1, 2] = 0
        self.refuse_value("stddev", (100, 1, 1), -2, "[100, 1, 1] = -2 is not positive")

    def test_late_in_a_stream(self):
        mean, stddev = mixture(6000, m=5, d=40)
        stddev[5999, 4, 39] = 0
        np.save(self.path("m.npy"), mean)
        np.save(self.path("s.npy"), stddev)
        self.refuse("m.npy,s.npy", says="s.npy: stddev[5999, 4, 39] = 0 is not positive")

    def test_covariance(self):
        good = np.tile(np.eye(3), (100, 4, 1, 1))
        for change, says in (
            (lambda c: c.__setitem__((7, 2), -np.eye(3)), "[7, 2]"),
            (lambda c: c.__setitem__((7, 2), np.ones((3, 3)) * 0), "[7, 2]"),
            (lambda c: c.__setitem__((7, 2, 0, 1), 0.5), "symmetric"),
            (lambda c: c.__setitem__((7, 2, 0, 1), np.nan), "finite"),
        ):
            covariance = good.copy()
            change(covariance)
            self.refuse(self.save(mean=self.mean, covariance=covariance), says=["in.npz[covariance]", says])

    def test_weights(self):
        arrays = {"mean": self.mean, "stddev": self.stddev}
        for weights, says in (
            ([0.5, 0.6, -0.1, 0], "negative"),
            ([0.5, 0.3, 0.1, 0], "sum to"),
            ([0.5, 0.5], "2 weights for 4 components"),
            ([np.nan, 0.5, 0.5, 0], "finite"),
            ([np.inf, 0, 0, 0], "finite"),
        ):
            self.refuse(self.save(**arrays, weights=np.array(weights)), says=["in.npz[weights]", says])
            plain = self.save("plain.npz", **arrays)
            self.refuse(plain, "--weights", ",".join(map(str, weights)), says=["--weights", says])
        self.refuse(plain, "--weights", "0.5,x,0.2,0.1", says="'x' is not a number")
        self.refuse(plain, "--weights", "", says="empty")
        self.refuse(plain, "--weights", "none.npy", says="none.npy: cannot be read")
        self.refuse(self.save(**arrays, weights=np.eye(4)), says="must be [M]")
        with open(self.path("w.csv"), "w") as file:
            file.write("a,b\n1,2\n")
        self.refuse(plain, "--weights", "w.csv", says="2 columns")

    def test_shapes(self):
        m, s = self.mean, self.stddev
        for mean, stddev, says in (
            (m, s[:99], "(99, 4, 3)"),
            (m, s[:, :3], "(100, 3, 3)"),
            (m, s[:, :, :2], "(100, 4, 2)"),
            (m[0, 0], s[0, 0], "must be [N, M, D]"),
            (np.float64(1), np.float64(1), "must be [N, M, D]"),
            (m[None], s[None], "must be [N, M, D]"),
            (m[:, :0], s[:, :0], "M = 0"),
            (m[:, :, :0], s[:, :, :0], "D = 0"),
        ):
            self.refuse(self.save(mean=mean, stddev=stddev), says=says)
        self.refuse(self.save(mean=m, covariance=np.ones((100, 4, 3, 2))), says="needs (100, 4, 3, 3)")

    def test_arrays(self):
        m, s = self.mean, self.stddev
        self.refuse(self.save(stddev=s, x=m), says=["no array 'mean'", "stddev, x"])
        self.refuse(self.save(mean=m, sigma=s), says=["neither 'stddev' nor 'covariance'", "mean, sigma"])
        self.refuse(self.save(mean=m, stddev=s, covariance=s), says="both")
        self.refuse(self.save(mean=m.astype(">f8"), stddev=s), says="in.npz[mean]")
        self.refuse(self.save(mean=m.astype(complex), stddev=s), says="in.npz[mean]")
        np.save(self.path("m.npy"), m)
        self.refuse("m.npy", says="MEAN.npy,STDDEV.npy")
        self.refuse("m.npy,", says="two files")
        self.refuse("m.npy,m.npy,m.npy", says="two files")
        self.refuse("m.npy,none.npy", says="none.npy: cannot be read: No such file")
        self.refuse("none.npz", says="none.npz: cannot be read: No such file")

    def test_not_a_file(self):
        os.mkdir(self.path("folder.npz"))
        open(self.path("empty.npz"), "w").close()
        open(self.path("empty.npy"), "w").close()
        self.refuse("folder.npz", says="is a directory")
        self.refuse("empty.npz", says="is empty")
        self.refuse("empty.npy,empty.npy", says="is empty")
        self.refuse("folder.npz,empty.npy", says="is a directory")
        os.mkfifo(self.path("pipe.npz"))
        self.refuse("pipe.npz", says="not a regular file")

    def test_another_kind_of_file(self):
        for name, content, says in (
            ("data.csv", b"x,y\n1,2\n", "data.csv: it looks like text; give predictions of an ensemble"),
            ("runs.db", b"SQLite format 3\0", "runs.db: it looks like a database of SQLite; give predictions"),
            ("y.model", b"\x10\0\0\0\0\0\0\0{}", "'dissent predict' makes them of a model and inputs"),
        ):
            with open(self.path(name), "wb") as file:
                file.write(content)
            self.refuse(name, says=says)
        for command in ("show", "evaluate", "predict"):
            inputs = () if command == "show" else ("data.csv",)
            output = ("-o", "p.csv") if command == "predict" else ()
            self.run_bad(2, command, "runs.db", *inputs, *output,
                         says="runs.db: it looks like a database of SQLite; give a model")

    def test_truncated_and_lying_npy(self):
        np.save(self.path("s.npy"), self.stddev)
        whole = npy_bytes(self.mean)
        lies = {
            "truncated": whole[:-1],
            "header only": whole[:128],
            "half a header": whole[:40],
            "trailing bytes": whole + b"x",
            "more rows": whole.replace(b"(100, 4, 3)", b"(101, 4, 3)"),
            "fewer rows": whole.replace(b"(100, 4, 3)", b"( 99, 4, 3)"),
            "huge": whole.replace(b"(100, 4, 3), }          ", b"(100, 4, 9999999999), } "),
            "negative": whole.replace(b"(100, 4, 3)", b"(-10, 4, 3)"),
            "objects": whole.replace(b"<f8", b"|O8"),
            "text": b"hello, world\n" * 100,
        }
        for name, data in lies.items():
            with self.subTest(name):
                self.assertNotEqual(data, whole)
                with open(self.path("m.npy"), "wb") as file:
                    file.write(data)
                self.refuse("m.npy,s.npy", says="m.npy")

    def write_zip(self, members):
        with zipfile.ZipFile(self.path("in.npz"), "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name, data)

    def test_truncated_and_lying_npz(self):
        self.save(mean=self.mean, stddev=self.stddev)
        with open(self.path("in.npz"), "rb") as file:
            whole = file.read()
        for data in (whole[:-1], whole[:-30], whole[: len(whole) // 2], whole[100:], b"PK\x03\x04" + bytes(100)):
            with open(self.path("in.npz"), "wb") as file:
                file.write(data)
            self.refuse("in.npz", says="in.npz")
        damaged = bytearray(whole)
        damaged[600] ^= 1
        with open(self.path("in.npz"), "wb") as file:
            file.write(damaged)
        self.refuse("in.npz", says="checksum")

    def test_zip_bomb(self):
        # 64 GiB of zeros in a file of 64 MiB would be honest; this one says so of a few kilobytes, and so does its header.
        rows = 1 << 30
        header = npy_bytes(np.zeros((1, 4, 2)))[:128].replace(b"(1, 4, 2), }         ", b"(%d, 4, 2), }" % rows)
        self.assertEqual(len(header), 128)
        self.write_zip({"mean.npy": header + bytes(100000), "stddev.npy": header + bytes(100000)})
        self.refuse("in.npz", says="in.npz")
        with open(self.path("in.npz"), "rb") as file:
            data = bytearray(file.read())
        size = struct.pack("<I", 128 + 100000)
        self.assertGreaterEqual(data.count(size), 4)
        with open(self.path("in.npz"), "wb") as file:
            file.write(data.replace(size, struct.pack("<I", 0xFFFFFFF0)))
        self.refuse("in.npz", says="in.npz")

    def test_inflated_beyond_memory(self):
        # A member that inflates honestly to 256 MiB under a limit of address space: an error, not a crash.
        header = npy_bytes(np.zeros((1, 4, 2)))[:128].replace(b"(1, 4, 2), }         ", b"(4194304, 4, 2), }   ")
        with zipfile.ZipFile(self.path("in.npz"), "w", zipfile.ZIP_DEFLATED) as archive:
            for name in ("mean.npy", "stddev.npy"):
                with archive.open(name, "w") as member:
                    member.write(header)
                    for _ in range(64):
                        member.write(bytes(1 << 22))
        if SANITIZED:
            return self.refuse("in.npz", says="is not positive")  # no limit of address space under a sanitizer
        limit = (resource.RLIMIT_AS, 200 << 20)
        self.run_bad(1, "score", "in.npz", "-o", "out.csv", limit=limit, says="out of memory")

    def test_estimators(self):
        self.save(mean=self.mean, stddev=self.stddev)
        for name, says in (
            ("kll", "did you mean 'kl'?"),
            ("bhatacharya", "did you mean 'bhattacharyya'?"),
            ("quadratur", "did you mean 'quadrature'?"),
            ("zzzzzz", "'dissent estimators' lists all"),
            ("", "is not known"),
            ("mc", "as in 'mc:5000'"),
            ("mc:0", "whole number"),
            ("mc:x", "whole number"),
            ("chernoff:1.5", "0 < alpha < 1"),
            ("kl:3", "takes no parameter"),
            ("kl,kl", "given twice"),
            ("refine", "add --top"),
            ("quadrature", "one output only"),
        ):
            self.refuse("in.npz", "--estimator", name, says=says)

    def test_usage(self):
        self.save(mean=self.mean, stddev=self.stddev)
        for arguments, says in (
            ([], "a command is needed"),
            (["scoer", "in.npz"], "did you mean 'score'?"),
            (["--verison"], "did you mean '--version'?"),
            (["score"], "INPUT is required"),
            (["score", "in.npz", "in.npz"], "too many"),
            (["score", "in.npz", "--estimtor", "kl"], "did you mean '--estimator'?"),
            (["score", "in.npz", "--top", "0"], "--top"),
            (["score", "in.npz", "--top", "-1"], "--top"),
            (["score", "in.npz", "--top", "1.5"], "--top"),
            (["score", "in.npz", "--threads", "-1"], "--threads"),
            (["score", "in.npz", "--seed", "-1"], "--seed"),
            (["score", "in.npz", "--output"], "--output needs a value"),
            (["score", "in.npz", "--top", "1", "--top", "2"], "--top is given more than once"),
            (["score", "in.npz", "-o", "x.txt"], "must end in .csv, .npy or .npz"),
            (["score", "in.npz", "-o", ""], "empty"),
            (["score", "in.npz", "-o", "in.npz"], "is read as well"),
            (["score", "in.npz", "-o", "-", "--json"], "standard output"),
            (["estimators", "x"], "too many"),
        ):
            self.run_bad(2, *arguments, says=says)
        self.run_bad(1, "score", "in.npz", "-o", "none/x.csv", says="create it first")
        result = dissent("score", "a\nb.npz")
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1))


class FullDisk(CliTest):
    def test_file(self):
        mean, stddev = mixture(2000)
        self.save(mean=mean, stddev=stddev)
        for name in ("out.csv", "out.npy", "out.npz"):
            with open(self.path(name), "w") as file:
                file.write("old")
            for extra in ([], ["--top", "1000"]):
                limit = (resource.RLIMIT_FSIZE, 8192)
                self.run_bad(1, "score", "in.npz", "-o", name, *extra, limit=limit, says=[name, "failed"])
                with open(self.path(name)) as file:
                    self.assertEqual(file.read(), "old")

    def test_standard_output(self):
        mean, stddev = mixture(2000)
        self.save(mean=mean, stddev=stddev)
        for arguments in (["score", "in.npz"], ["score", "in.npz", "--json"], ["score", "in.npz", "-o", "-"],
                          ["estimators"], ["--help"], ["--version"], ["score", "--help"]):
            with open("/dev/full", "w") as full:
                self.run_bad(1, *arguments, stdout=full, says="standard output: write failed: No space left")


if __name__ == "__main__":
    unittest.main()
