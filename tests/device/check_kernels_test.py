"""check_kernels.py finds functions that a compiler has cut."""

import unittest

from check_kernels import cut_functions

WHOLE = """
.func  (.param .b32 func_retval0) whole(
	.param .b32 whole_param_0
)
{
	setp.lt.s32 	%p1, %r1, 8;
	@%p1 bra 	$L__BB0_2;
	add.s32 	%r2, %r1, 1;
$L__BB0_2:
	ret;

}
"""


class CutFunctions(unittest.TestCase):
    def test_a_whole_function_is_none(self):
        self.assertEqual(cut_functions(WHOLE), [])
        self.assertEqual(cut_functions(WHOLE.replace("ret;", "ret;\n$L__BB0_3:\n\tbra.uni \t$L__BB0_2;")), [])

    def test_one_without_a_return(self):
        self.assertEqual(cut_functions(WHOLE.replace("\tret;\n", "") + WHOLE.replace("whole", "other")), ["whole"])

    def test_one_that_returns_early_and_ends_in_nothing(self):
        early = WHOLE.replace("\tadd.s32", "\tret;\n$L__BB0_1:\n\tadd.s32").replace("$L__BB0_2:\n\tret;\n", "")
        self.assertEqual(cut_functions(early), ["whole"])


if __name__ == "__main__":
    unittest.main()
