"""A PostgreSQL server for tests and benchmarks, from Debian's package, in a folder of its own."""

import glob
import os
import pwd
import shutil
import subprocess
import tempfile


def server_programs():
    """The folder of the newest PostgreSQL that is installed; none if there is none."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
    return os.path.dirname(found[-1]) if found else None


class Server:
    """A PostgreSQL server in a folder of its own, reached by a socket there."""

    PASSWORD = "sesame"

    def __init__(self):
        self.programs = server_programs()
        self.dir = tempfile.mkdtemp(prefix="dissent-server-")
        # A server does not run as root.
        self.user = None
        if os.geteuid() == 0:
            self.user = next(user.pw_uid for user in pwd.getpwall() if user.pw_name in ("postgres", "nobody"))
            os.chown(self.dir, self.user, -1)
        password = os.path.join(self.dir, "password")
        with open(password, "w") as file:
            file.write(self.PASSWORD)
        os.chmod(password, 0o644)
        self.call("initdb", "-D", "data", "-U", "dissent", "-A", "scram-sha-256", "--pwfile", password, "--no-sync",
                  "--locale", "C", "--encoding", "UTF8")
        self.start()

    def call(self, program, *arguments):
        subprocess.run([os.path.join(self.programs, program), *arguments], cwd=self.dir, user=self.user, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self):
        self.call("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", f"-k {self.dir} -h ''", "start")

    def stop(self):
        self.call("pg_ctl", "-D", "data", "-w", "-m", "immediate", "stop")

    def url(self, database="postgres", password=PASSWORD):
        return f"postgresql://dissent:{password}@/{database}?host={self.dir}"

    def make_database(self, name):
        environment = dict(os.environ, PGPASSWORD=self.PASSWORD)
        subprocess.run([os.path.join(self.programs, "createdb"), "-h", self.dir, "-U", "dissent", name], check=True,
                       env=environment)
        return self.url(name)

    def close(self):
        try:
            self.stop()
        finally:
            shutil.rmtree(self.dir)
