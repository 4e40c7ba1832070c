"""Who may work on a campaign: one process at a time, with the tables that it was begun with."""
import os
import unittest

import dissent
from support import FolderTest, PackageTest, tables


class Held(PackageTest, FolderTest):
    OPTIONS = {"model": "pne", "n_components": 3, "epochs": 30, "acquisition": "kl", "random_state": 2}

    def setUp(self):
        FolderTest.setUp(self)
        self.labelled, self.pool = tables()

    def begin(self, name="python"):
        return dissent.Campaign(self.path(name), self.labelled, self.pool, "y", **self.OPTIONS)

    def test_one_at_a_time(self):
        campaign = self.begin()
        with self.assertRaisesRegex(ValueError, "this process has the campaign open already; close it there first"):
            dissent.Campaign(self.path("python"))
        child = os.fork()
        if child == 0:  # it has the campaign of its parent, and must not write
            status = 1
            try:
                campaign.ask(1)
            except ValueError as error:
                status = 0 if "forked from" in str(error) else 2
            finally:
                os._exit(status)  # and not on with the tests
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        campaign.close()
        with self.assertRaisesRegex(ValueError, "the campaign is closed"):
            campaign.ask(1)
        dissent.Campaign(self.path("python")).close()

    def test_other_tables_are_named(self):
        given = dict(labelled=self.labelled, pool=self.pool, targets="y", test=self.labelled[:5])
        with dissent.Campaign(self.path("c"), **given, **self.OPTIONS) as campaign:
            campaign.ask(1)
        for other, message in [
            ({"test": None}, "begun with other data: with a table test, and now there is none"),
            ({"test": self.labelled[:4]}, "with other rows in test"),
            ({"pool": self.pool * 2}, "with other rows in pool"),
            ({"aim": self.pool}, "with no aim"),
            ({"inputs": ["a"]}, "with other inputs or targets"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                dissent.Campaign(self.path("c"), **{**given, **other})


if __name__ == "__main__":
    unittest.main()
