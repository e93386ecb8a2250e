import {
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { EXIT, type ExitCode, LifeboatError } from './errors.ts';
import { makePrivateFolder } from './folders.ts';
import { show } from './text.ts';

/*
 * Which files are trusted. A file that decides something (a config runs commands, a token is sent, a list of
 * signers approves) counts only if only the user and root could have written it. As OpenSSH for its own files
 * (safe_path of misc.c), but with the folder of each link on the way instead of all folders up to the root:
 *
 * - the file, its folder, every link that leads to it, and the folder of each link belong to the user of this
 *   process or to root;
 * - neither the file nor those folders can be written by others; a folder with the sticky bit (/tmp) can,
 *   since only the owner of a file may exchange it there;
 * - a group counts as others, unless it is the user's own and has no other member, as where the umask is
 *   002.
 *
 * Root trusts what root owns, even under sudo: files of the sudo user would otherwise run commands as root.
 */

/** The reason, as the end of a sentence, and how to fix it. */
export interface TrustIssue {
  readonly says: string;
  readonly fix: string;
}

const EVERYBODY = 0o002;
const GROUP = 0o020;
const STICKY = 0o1000;
const MAX_LINKS = 40;

/**
 * Why the file or folder at `path` is not trusted; empty if it is, and on systems without such permissions.
 * With `opened`, the fstat(2) of a file opened by this path, judges that file, whatever is at the path now.
 * Throws the system's error for a missing path.
 */
export function distrustOf(path: string, opened?: Stats): TrustIssue[] {
  const uid = process.geteuid?.();
  if (uid === undefined) return [];
  // A terminal or /dev/null stores nothing.
  if (opened !== undefined && !opened.isFile() && !opened.isDirectory() && !opened.isFIFO()) return [];
  const around: TrustIssue[] = [];
  const withIt = (stats: Stats, at: string) => unique([...judge(stats, 'it', at, uid), ...around]);
  let at = resolve(path);
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const folder = realpathSync(dirname(at));
    // A descriptor of this process: its parent passed it.
    if (opened !== undefined && DESCRIPTORS.test(folder)) return withIt(opened, at);
    around.push(...judge(lstatSync(folder), 'its folder', folder, uid));
    const here = lstatSync(at);
    if (!here.isSymbolicLink()) {
      if (opened !== undefined && (here.ino !== opened.ino || here.dev !== opened.dev)) around.push(REPLACED);
      return withIt(opened ?? here, at);
    }
    around.push(...judgeOwner(here, 'a link to it', at, uid));
    at = resolve(folder, readlinkSync(at));
  }
  return [{ says: 'it is a link that leads back to itself', fix: 'name the file itself' }];
}

const REPLACED: TrustIssue = { says: 'another file took its place while it was opened', fix: 'try again' };

const DESCRIPTORS = /^(?:\/proc\/.*\/fd|\/dev\/fd)$/u;

/** Throws if `distrustOf` finds anything. `what` names the file or folder. */
export function assertTrusted(what: string, path: string, opened?: Stats, how: Refusal = REFUSED): void {
  refuse(what, path, distrustOf(path, opened), how);
}

interface Refusal {
  readonly code: string;
  readonly exitCode: ExitCode;
}

const REFUSED: Refusal = { code: 'trust.refused', exitCode: EXIT.usage };

/** Whether the refusal was only because another file was renamed over it: opened again, it is judged anew. */
export function wasReplaced(thrown: unknown): boolean {
  return thrown instanceof LifeboatError && thrown.evidence['replaced'] === true;
}

function refuse(what: string, path: string, found: readonly TrustIssue[], how = REFUSED): void {
  if (found.length === 0) return;
  const why = found.map(({ says }) => says).join(', ');
  throw new LifeboatError(how.code, `the ${what} ${show(path, 200)} is not used: ${why}`, {
    hints: [...found.map(({ fix }) => fix), 'others may have changed it: read it before you use it again'],
    exitCode: how.exitCode,
    evidence: found.every((one) => one === REPLACED) ? { replaced: true } : {},
  });
}

/**
 * Throws `trust.refused` if others could have written into a home, or can: the home, its contents, or, if it
 * does not exist, the folder above it. The home may be a link; its contents may not, since files are written
 * there. Throws `home.not-a-folder` for anything else with its name. Both with exit 2.
 */
export function assertOwnHome(home: string): void {
  const uid = process.geteuid?.();
  try {
    if (statSync(home, { throwIfNoEntry: false })?.isDirectory() === false) throw notAFolder(home);
    if (uid === undefined) return;
    const there = nearest(home);
    if (there === home) refuse('home', home, distrustOf(home));
    else refuse('home', home, judge(statSync(there), 'the folder above it', there, uid));
    for (const name of there === home ? readdirSync(home) : []) assertOutside(join(home, name), uid);
  } catch (thrown) {
    // An inaccessible path cannot be used either: its user reports a better error.
    if (thrown instanceof LifeboatError) throw thrown;
  }
}

function notAFolder(home: string): LifeboatError {
  return new LifeboatError('home.not-a-folder', `the home ${show(home, 200)} is not a folder`, {
    hints: ['name a folder with LIFEBOAT_HOME; one that is not there yet is made'],
    exitCode: EXIT.usage,
  });
}

function nearest(path: string): string {
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  return isThere || path === dirname(path) ? path : nearest(dirname(path));
}

/**
 * Creates a folder for its owner only, with those above it up to `root`, which may be a link. Throws the
 * system's errors, and `trust.refused` if another one is a link or could have been written by others.
 */
export function makeFolderInside(root: string, path: string): void {
  const uid = process.geteuid?.();
  const names = relative(root, path).split(sep);
  for (const [i] of names.entries()) {
    const at = join(root, ...names.slice(0, i + 1));
    if (uid !== undefined) assertOutside(at, uid);
    makePrivateFolder(at);
  }
}

/** A file that is gone by now, such as a temporary one, is no problem. */
function assertOutside(path: string, uid: number): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  const what = stats.isDirectory() ? 'folder' : 'file';
  const fix = `only LIFEBOAT_HOME itself may be a link: replace ${show(path)} with what it points to`;
  const link = { says: 'it is a symbolic link inside the home', fix };
  refuse(what, path, stats.isSymbolicLink() ? [link] : judge(stats, 'it', path, uid));
}

/** As `distrustOf`, without the surroundings. */
export function judgeFolder(stats: Stats, path: string): TrustIssue[] {
  const uid = process.geteuid?.();
  return uid === undefined ? [] : judge(stats, 'it', path, uid);
}

function judge(stats: Stats, what: string, path: string, uid: number): TrustIssue[] {
  const isGuarded = stats.isDirectory() && (stats.mode & STICKY) !== 0;
  const who =
    (stats.mode & EVERYBODY) !== 0
      ? 'everybody'
      : (stats.mode & GROUP) !== 0 && !isOwnGroup(stats.gid, uid)
        ? 'its group'
        : undefined;
  const written =
    who === undefined || isGuarded
      ? []
      : [{ says: `${who} can write ${what}`, fix: fixOfRights(stats, path) }];
  return [...written, ...judgeOwner(stats, what, path, uid)];
}

/** A device's permissions belong to the system: changing them would break other programs. */
function fixOfRights(stats: Stats, path: string): string {
  const isDevice = stats.isCharacterDevice() || stats.isBlockDevice();
  return isDevice ? `name another path than ${show(path)}, which is a device` : `chmod go-w ${show(path)}`;
}

function judgeOwner({ uid: owner }: Stats, what: string, path: string, uid: number): TrustIssue[] {
  if (owner === uid || owner === 0) return [];
  const fix =
    uid === 0
      ? `run lifeboat as that user, not as root, or: chown root ${show(path)}`
      : `use a copy of your own, or make it yours: chown ${uid} ${show(path)}`;
  return [{ says: `${what} belongs to another user (${owner})`, fix }];
}

/** By this machine's own lists; a group that they lack is the user's own if it has the user's number. */
function isOwnGroup(gid: number, uid: number): boolean {
  return gid === process.getgid?.() && hasNobodyElse(gid, uid, linesOf('/etc/passwd'), linesOf('/etc/group'));
}

/** From the lines of passwd(5) and group(5). */
export function hasNobodyElse(
  gid: number,
  uid: number,
  passwd: readonly string[],
  group: readonly string[],
): boolean {
  const users = passwd.map((line) => line.split(':'));
  const mine = users.filter(([, , id]) => id === String(uid) || id === '0').map(([name]) => name);
  const known = group.map((line) => line.split(':')).find(([, , id]) => id === String(gid));
  if (known === undefined) return gid === uid;
  const members = (known[3] ?? '').split(',').filter((name) => name !== '');
  const primary = users.filter(([, , , id]) => id === String(gid)).map(([name]) => name);
  return [...members, ...primary].every((name) => mine.includes(name));
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function unique(all: readonly TrustIssue[]): TrustIssue[] {
  return [...new Map(all.map((one) => [one.says + one.fix, one])).values()];
}
