import type { TestFolder } from "../../../support/repository.ts";
import type { Operation, Verdict } from "./_operations.ts";

/** Where a trap is laid: the workspace, and what must never be touched. */
export interface Ground {
  readonly inside: TestFolder;
  readonly outside: TestFolder;
  /** What has to be closed in the end. */
  readonly open: Disposable[];
}

/** What must come of each kind of operation; what is left out is like `look`. */
interface Verdicts {
  readonly look: Verdict;
  readonly search?: Verdict;
  readonly list?: Verdict;
  readonly change?: Verdict;
  readonly make?: Verdict;
}

/** A hostile, odd or forbidden path, and what has to be there for it. */
export interface PathClass {
  readonly name: string;
  readonly path: string;
  readonly lay?: (ground: Ground) => void;
  readonly verdicts: Verdicts;
}

const KIND = {
  read: "look",
  read_bytes: "look",
  versions: "look",
  list: "list",
  search: "search",
  edit: "change",
  rewrite: "change",
  delete: "change",
  rename_from: "change",
  create: "make",
  rename_to: "make",
} as const satisfies Record<Operation, keyof Verdicts>;

/** What an operation on that path must come to. */
export function expected({ verdicts }: PathClass, operation: Operation): Verdict {
  return verdicts[KIND[operation]] ?? verdicts.look;
}

const OUTSIDE: Verdicts = { look: "outside_workspace" };
const PROTECTED: Verdicts = { look: "protected_path" };
/** A protected file reached by another name: it is not even a folder to a listing. */
const PROTECTED_FILE: Verdicts = { look: "protected_path", list: "not_directory" };
const INVALID: Verdicts = { look: "invalid_name" };
/** Read through, never replaced. */
const LINK: Verdicts = {
  look: "done",
  list: "not_directory",
  change: "through_link",
  make: "through_link",
};
const FILE: Verdicts = { look: "done", list: "not_directory", make: "exists" };
const FOLDER: Verdicts = { look: "is_directory", list: "done", search: "done", make: "exists" };
const FREE: Verdicts = { look: "not_found", make: "done" };
const TWIN: Verdicts = { ...FILE, change: "multiply_linked" };
const SPECIAL: Verdicts = { look: "special_file", list: "not_directory", make: "exists" };

const link = (target: string, name: string) => ({ inside }: Ground): void =>
  Deno.symlinkSync(target, `${inside.path}/${name}`);

const sh = (script: string) => ({ inside }: Ground): void => {
  const { success, stderr } = new Deno.Command("/bin/sh", {
    args: ["-c", script],
    cwd: inside.path,
  }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
};

const LINKED_WORKTREE = "mv .git shared && mkdir -p shared/worktrees/w shared/hooks && " +
  "echo 'gitdir: shared/worktrees/w' > .git && echo ../.. > shared/worktrees/w/commondir";

/** Paths that no operation may touch, beside Git's and Fluzo's own. */
export function protectedPaths({ inside, outside }: Ground): readonly string[] {
  return [`${inside.path}/auth.toml`, `${outside.path}/auth.toml`];
}

/** What every workspace of the corpus has beside its repository. */
export function layGround({ inside, outside }: Ground): void {
  outside.write("secret.txt", "outside\n");
  outside.write("auth.toml", "outside token\n");
  outside.write("folder/deep.txt", "outside deep\n");
  inside.write(".fluzo", "schema_version = 1\n");
  inside.write(".fluzodrive/state", "private\n");
}

export const CLASSES: readonly PathClass[] = [
  // Traversal
  { name: "traversal", verdicts: OUTSIDE, path: "../secret.txt" },
  { name: "traversal in the middle", verdicts: OUTSIDE, path: "dir/../../secret.txt" },
  { name: "traversal that stays inside", verdicts: OUTSIDE, path: "dir/../plain.txt" },
  { name: "traversal alone", verdicts: OUTSIDE, path: ".." },
  { name: "traversal with a trailing slash", verdicts: OUTSIDE, path: "../" },
  { name: "traversal behind a dot", verdicts: OUTSIDE, path: "./../secret.txt" },
  {
    name: "traversal through a link",
    verdicts: OUTSIDE,
    path: "through/../secret.txt",
    lay: link("dir", "through"),
  },
  // Absolute
  { name: "absolute", verdicts: OUTSIDE, path: "/etc/passwd" },
  { name: "absolute root", verdicts: OUTSIDE, path: "/" },
  { name: "absolute with two slashes", verdicts: OUTSIDE, path: "//etc/passwd" },
  // Links that leave
  {
    name: "a link to a file outside",
    verdicts: OUTSIDE,
    path: "leak",
    lay: (ground) => link(`${ground.outside.path}/secret.txt`, "leak")(ground),
  },
  {
    name: "a link to a folder outside",
    verdicts: OUTSIDE,
    path: "out/secret.txt",
    lay: (ground) => link(ground.outside.path, "out")(ground),
  },
  {
    name: "a relative link that leaves",
    verdicts: OUTSIDE,
    path: "up/etc/passwd",
    lay: link("../../../..", "up"),
  },
  {
    name: "a relative link to a file outside",
    verdicts: OUTSIDE,
    path: "up",
    lay: link("../../etc/passwd", "up"),
  },
  {
    name: "a link to the root itself from outside",
    verdicts: OUTSIDE,
    path: "self/plain.txt",
    lay: link("../../tmp", "self"),
  },
  {
    name: "a chain of links that leaves",
    verdicts: OUTSIDE,
    path: "first",
    lay: (ground) => {
      link("second", "first")(ground);
      link(`${ground.outside.path}/secret.txt`, "second")(ground);
    },
  },
  {
    name: "a link to a name outside that is free",
    verdicts: OUTSIDE,
    path: "dangling",
    lay: (ground) => link(`${ground.outside.path}/new.txt`, "dangling")(ground),
  },
  {
    name: "a relative link to a free name outside",
    verdicts: OUTSIDE,
    path: "dangling",
    lay: link("../new.txt", "dangling"),
  },
  // Links that stay
  {
    name: "a link to a file inside",
    verdicts: LINK,
    path: "inner",
    lay: link("plain.txt", "inner"),
  },
  {
    name: "a link to a folder inside",
    verdicts: LINK,
    path: "innerdir/deep.txt",
    lay: link("dir", "innerdir"),
  },
  {
    name: "a link up and down again",
    verdicts: LINK,
    path: "dir/up",
    lay: link("../plain.txt", "dir/up"),
  },
  {
    name: "a link to a free name inside",
    verdicts: { look: "not_found", change: "through_link", make: "through_link" },
    path: "free",
    lay: link("nothing", "free"),
  },
  {
    name: "a link to itself",
    verdicts: { look: "magic_link" },
    path: "loop",
    lay: link("loop", "loop"),
  },
  {
    name: "two links to each other",
    verdicts: { look: "magic_link" },
    path: "ping",
    lay: (ground) => {
      link("pong", "ping")(ground);
      link("ping", "pong")(ground);
    },
  },
  // Magic links
  {
    name: "a link to the root of a process",
    verdicts: OUTSIDE,
    path: "magic/etc/passwd",
    lay: link("/proc/self/root", "magic"),
  },
  {
    name: "a link to a descriptor",
    verdicts: { look: "magic_link", list: "outside_workspace" },
    path: "magic",
    lay: link("/proc/self/fd/0", "magic"),
  },
  {
    name: "a link to the folder of a process",
    verdicts: OUTSIDE,
    path: "magic/plain.txt",
    lay: link("/proc/self/cwd", "magic"),
  },
  {
    name: "a link to the memory of a process",
    verdicts: { look: "magic_link", list: "outside_workspace" },
    path: "magic",
    lay: link("/proc/self/mem", "magic"),
  },
  // Hard links
  {
    name: "a file with two names inside",
    verdicts: TWIN,
    path: "twin",
    lay: sh("ln plain.txt twin"),
  },
  {
    name: "a hard link to a file outside",
    verdicts: TWIN,
    path: "hard",
    lay: ({ inside, outside }) =>
      Deno.linkSync(`${outside.path}/secret.txt`, `${inside.path}/hard`),
  },
  // Special files
  { name: "a pipe", verdicts: SPECIAL, path: "pipe", lay: sh("mkfifo pipe") },
  {
    name: "a link to a pipe",
    verdicts: { ...LINK, look: "special_file", list: "not_directory" },
    path: "tube",
    lay: sh("mkfifo pipe; ln -s pipe tube"),
  },
  {
    name: "a socket",
    verdicts: SPECIAL,
    path: "socket",
    lay: ({ inside, open }) =>
      open.push(Deno.listen({ transport: "unix", path: `${inside.path}/socket` })),
  },
  { name: "a link to a device", verdicts: OUTSIDE, path: "null", lay: link("/dev/null", "null") },
  { name: "a link to a terminal", verdicts: OUTSIDE, path: "tty", lay: link("/dev/tty", "tty") },
  // Kinds of entries
  { name: "a folder", verdicts: FOLDER, path: "dir" },
  { name: "a folder with a trailing slash", verdicts: FOLDER, path: "dir/" },
  { name: "the root", verdicts: FOLDER, path: "." },
  { name: "a file taken for a folder", verdicts: { look: "not_directory" }, path: "plain.txt/x" },
  { name: "a file with a trailing slash", verdicts: FILE, path: "plain.txt/" },
  { name: "a free name", verdicts: FREE, path: "nothing" },
  { name: "a free name in a free folder", verdicts: FREE, path: "no/such/file" },
  // Names
  { name: "no name", verdicts: INVALID, path: "" },
  { name: "a NUL", verdicts: INVALID, path: "plain\0.txt" },
  { name: "half a surrogate pair", verdicts: INVALID, path: "plain\ud800" },
  { name: "an over-long name", verdicts: INVALID, path: "n".repeat(256) },
  {
    name: "the longest name",
    verdicts: FILE,
    path: "n".repeat(255),
    lay: ({ inside }) => inside.write("n".repeat(255), "inside\n"),
  },
  { name: "an over-long path", verdicts: INVALID, path: `${"d/".repeat(2100)}f` },
  {
    name: "a deep path",
    verdicts: FILE,
    path: `${"d/".repeat(60)}f`,
    lay: ({ inside }) => inside.write(`${"d/".repeat(60)}f`, "inside\n"),
  },
  {
    name: "a newline",
    verdicts: FILE,
    path: "a\nb",
    lay: ({ inside }) => inside.write("a\nb", "inside\n"),
  },
  {
    name: "a carriage return",
    verdicts: FILE,
    path: "a\rb",
    lay: ({ inside }) => inside.write("a\rb", "inside\n"),
  },
  {
    name: "an escape sequence",
    verdicts: FILE,
    path: "\x1b[31mred",
    lay: ({ inside }) => inside.write("\x1b[31mred", "inside\n"),
  },
  {
    name: "quotes",
    verdicts: FILE,
    path: `'"\``,
    lay: ({ inside }) => inside.write(`'"\``, "inside\n"),
  },
  {
    name: "a leading dash",
    verdicts: FILE,
    path: "-rf",
    lay: ({ inside }) => inside.write("-rf", "inside\n"),
  },
  {
    name: "a blank at both ends",
    verdicts: FILE,
    path: " a ",
    lay: ({ inside }) => inside.write(" a ", "inside\n"),
  },
  {
    name: "a backslash",
    verdicts: FILE,
    path: "a\\..\\b",
    lay: ({ inside }) => inside.write("a\\..\\b", "inside\n"),
  },
  { name: "a percent escape", verdicts: FREE, path: "%2e%2e/secret.txt" },
  { name: "three dots", verdicts: FREE, path: ".../x" },
  { name: "a tilde", verdicts: FREE, path: "~/.ssh/id" },
  {
    name: "a name that is not UTF-8",
    verdicts: FREE,
    path: "\ufffd",
    lay: sh(`printf 'inside\\n' > "$(printf '\\377')"`),
  },
  {
    name: "composed where decomposed exists",
    verdicts: FREE,
    path: "\u00e9",
    lay: ({ inside }) => inside.write("e\u0301", "inside\n"),
  },
  // Protected places, by name
  { name: "Git's folder", verdicts: PROTECTED, path: ".git" },
  { name: "Git's configuration", verdicts: PROTECTED, path: ".git/config" },
  { name: "a hook of Git", verdicts: PROTECTED, path: ".git/hooks/pre-commit" },
  { name: "Git's folder in capitals", verdicts: PROTECTED, path: ".GIT/config" },
  { name: "Git's folder in mixed case", verdicts: PROTECTED, path: ".Git/HEAD" },
  { name: "Git's folder behind dots", verdicts: PROTECTED, path: "./.git/./config" },
  { name: "Git's folder behind two slashes", verdicts: PROTECTED, path: ".//.git//config" },
  { name: "Git's folder behind a detour", verdicts: OUTSIDE, path: "dir/../.git/config" },
  {
    name: "Git's folder of a submodule",
    verdicts: PROTECTED,
    path: "sub/.git/config",
    lay: ({ inside }) => inside.write("sub/.git/config", "x\n"),
  },
  { name: "a folder of Git that is not there", verdicts: PROTECTED, path: "dir/.git/hooks/x" },
  { name: "the configuration", verdicts: PROTECTED, path: ".fluzo" },
  { name: "the configuration in capitals", verdicts: PROTECTED, path: ".FLUZO" },
  { name: "the configuration of a subfolder", verdicts: PROTECTED, path: "dir/.fluzo" },
  { name: "the journal", verdicts: PROTECTED, path: ".fluzodrive/state" },
  { name: "the journal in mixed case", verdicts: PROTECTED, path: ".FluzoDrive/state" },
  {
    name: "a temporary of Fluzo",
    verdicts: PROTECTED,
    path: ".fluzo-tmp-op_1",
    lay: ({ inside }) => inside.write(".fluzo-tmp-op_1", "x"),
  },
  // Protected places, through aliases
  {
    name: "a link to Git's folder",
    verdicts: PROTECTED_FILE,
    path: "gitlink/config",
    lay: link(".git", "gitlink"),
  },
  {
    name: "a link to Git's configuration",
    verdicts: PROTECTED_FILE,
    path: "gitlink",
    lay: link(".git/config", "gitlink"),
  },
  {
    name: "a link to a hook that is not there",
    verdicts: { look: "protected_path", list: "not_found" },
    path: "hook",
    lay: link(".git/hooks/pre-commit", "hook"),
  },
  {
    name: "a hard link to Git's configuration",
    verdicts: PROTECTED_FILE,
    path: "hard",
    lay: sh("ln .git/config hard"),
  },
  {
    name: "a link to the configuration",
    verdicts: PROTECTED_FILE,
    path: "config",
    lay: link(".fluzo", "config"),
  },
  {
    name: "a hard link to the configuration",
    verdicts: PROTECTED_FILE,
    path: "hard",
    lay: sh("ln .fluzo hard"),
  },
  {
    name: "a link to the journal",
    verdicts: PROTECTED_FILE,
    path: "drive/state",
    lay: link(".fluzodrive", "drive"),
  },
  {
    name: "a hard link to the journal",
    verdicts: PROTECTED_FILE,
    path: "hard",
    lay: sh("ln .fluzodrive/state hard"),
  },
  {
    name: "a repository elsewhere that a .git file names",
    verdicts: PROTECTED_FILE,
    path: "real/config",
    lay: sh("mv .git real && echo 'gitdir: real' > .git"),
  },
  {
    name: "the shared part of a linked worktree",
    verdicts: { look: "protected_path", list: "not_found" },
    path: "shared/hooks/x",
    lay: sh(LINKED_WORKTREE),
  },
  {
    name: "a link to Git's folder of a submodule",
    verdicts: PROTECTED_FILE,
    path: "sublink/config",
    lay: (ground) => {
      ground.inside.write("sub/.git/config", "x\n");
      link("sub/.git", "sublink")(ground);
    },
  },
  {
    name: "a link to Git's folder, itself",
    verdicts: PROTECTED,
    path: "gitlink",
    lay: link(".git", "gitlink"),
  },
  {
    name: "a repository elsewhere, itself",
    verdicts: { ...PROTECTED, make: "protected_path" },
    path: "real",
    lay: sh("mv .git real && echo 'gitdir: real' > .git"),
  },
  {
    name: "the hooks of a linked worktree, themselves",
    verdicts: PROTECTED,
    path: "shared/hooks",
    lay: sh(LINKED_WORKTREE),
  },
  {
    name: "a hard link to a protected file outside",
    verdicts: PROTECTED_FILE,
    path: "notes.txt",
    lay: ({ inside, outside }) =>
      Deno.linkSync(`${outside.path}/auth.toml`, `${inside.path}/notes.txt`),
  },
  {
    name: "the credentials, named",
    verdicts: PROTECTED_FILE,
    path: "auth.toml",
    lay: ({ inside }) => inside.write("auth.toml", "token\n"),
  },
  {
    name: "a hard link to the credentials",
    verdicts: PROTECTED_FILE,
    path: "notes.txt",
    lay: ({ inside }) => {
      inside.write("auth.toml", "token\n");
      Deno.linkSync(`${inside.path}/auth.toml`, `${inside.path}/notes.txt`);
    },
  },
  {
    name: "a link to the credentials",
    verdicts: PROTECTED_FILE,
    path: "notes.txt",
    lay: (ground) => {
      ground.inside.write("auth.toml", "token\n");
      link("auth.toml", "notes.txt")(ground);
    },
  },
];
