"""Serves the folder web/ by HTTP, and the repositories in git/ by git's own program for that, below /git/."""

import http.server
import os
import subprocess
import sys

folder = sys.argv[1]


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *args):
        super().__init__(*args, directory=folder + "/web")

    def do_GET(self):
        self.git() if self.path.startswith("/git/") else super().do_GET()

    def do_POST(self):
        self.git()

    def git(self):
        path, _, query = self.path.partition("?")
        env = os.environ | {
            "GIT_PROJECT_ROOT": folder, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
        }
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        head, _, answer = subprocess.run(["git", "http-backend"], input=body, env=env, stdout=subprocess.PIPE, check=True).stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)


http.server.ThreadingHTTPServer(("", 8000), Handler).serve_forever()
