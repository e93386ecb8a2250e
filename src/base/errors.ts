import type { Failure } from './failure.ts';
import { show } from './text.ts';

/** `EXIT_CODES` lists their causes. */
export const EXIT = {
  closed: 0,
  failed: 1,
  usage: 2,
  waiting: 3,
  credentials: 4,
  inDoubt: 5,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/**
 * The causes of each exit code. The help, the table in docs/automation.md and the tests are generated from
 * it: the tests try each situation on the built product, by its name.
 */
export const EXIT_CODES = {
  closed: {
    means: 'closed',
    when: {
      proven: 'the run is closed: the key is proven, the data is back and no follow-up is open',
      done: 'the command succeeded',
    },
  },
  failed: {
    means: 'failed',
    when: {
      unproven: 'the run is closed without proof, for instance because a person stopped it',
      refused:
        'the service or the platform refused the command or cannot be reached, or a file cannot be used',
      bad:
        'something was checked and found wrong: a backup, the journal, a plan, or what `doctor` checks; ' +
        '`status` found an instance that could not be recovered, or nothing shows that it could; `plans evaluate` found one that is not ready',
    },
  },
  usage: {
    means: 'usage or config',
    when: {
      line: 'the command line or the config is wrong',
      unfit:
        'a value does not fit: a time out of range, a backup that is not done, a target that is the source',
      unsupported: 'the revision of the service does not have what is needed',
    },
  },
  waiting: {
    means: 'waiting for a person',
    when: {
      question: 'the run waits at a question that no flag answers, also after a failed step',
      unfinished: 'a follow-up is open, or an approval is missing',
      unasked:
        '`plans evaluate` could not ask something of an instance in time, and found none that is not ready',
      unpinned:
        '`audit verify` found nothing wrong, and names what is not pinned: a key, a place, a checkpoint',
      unconfirmed: 'the change was not confirmed, and there is no terminal to confirm it in',
      overdue: 'a wait took too long and was left',
      held: 'busy: another process holds it; wait for that process',
      open: 'busy: a run of the instance is open; resume it',
      busy: 'busy: the service is working on the instance, or something else prevents the change for now',
    },
  },
  credentials: {
    means: 'credentials refused',
    when: { token: 'the token is missing or refused; get a new one, then resume or repeat' },
  },
  inDoubt: {
    means: 'in doubt',
    when: {
      doubt: 'what the service did is not known; nothing more is sent until it is',
      lost: 'the journal lacks signed entries: put them back, or accept the loss',
    },
  },
  interrupted: {
    means: 'interrupted, resumable',
    when: { left: 'a person or a signal ended it, or the change was declined' },
  },
} as const satisfies Readonly<
  Record<keyof typeof EXIT, { readonly means: string; readonly when: Readonly<Record<string, string>> }>
>;

/** Another process is or may be active: waiting or resuming helps. Nothing was sent or written. */
const BUSY: ReadonlySet<string> = new Set([
  'journal.held',
  'journal.lost-hold',
  'journal.busy',
  'keys.busy',
  'run.open',
]);

export interface LifeboatErrorOptions {
  readonly hints?: readonly string[];
  readonly evidence?: Failure['evidence'];
  readonly cause?: unknown;
  readonly exitCode?: ExitCode;
  /** All problems of a file; the first is the message. */
  readonly problems?: readonly ProblemInFile[];
}

/**
 * The only error class of the product. `shortMessage` is one line, lower case, no full stop; `hints` say what
 * is safe to do next; `code` is stable, for programs. It never carries a secret.
 */
export class LifeboatError extends Error {
  readonly code: string;
  readonly shortMessage: string;
  readonly hints: readonly string[];
  readonly evidence: Failure['evidence'];
  readonly exitCode: ExitCode;
  readonly problems: readonly ProblemInFile[];

  constructor(code: string, shortMessage: string, options: LifeboatErrorOptions = {}) {
    super(shortMessage, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LifeboatError';
    this.code = code;
    this.shortMessage = shortMessage;
    this.hints = options.hints ?? [];
    this.evidence = options.evidence ?? {};
    this.exitCode = options.exitCode ?? exitOf({ code });
    this.problems = options.problems ?? [];
  }

  /** As plain data, for a machine or the journal. Drops the cause. */
  toFailure(): Failure {
    return {
      code: this.code,
      shortMessage: this.shortMessage,
      hints: [...this.hints],
      evidence: { ...this.evidence },
    };
  }
}

/** The new hints come first. */
export function withMore(
  error: LifeboatError,
  { hints = [], evidence = {} }: Pick<LifeboatErrorOptions, 'hints' | 'evidence'>,
): LifeboatError {
  return new LifeboatError(error.code, error.shortMessage, {
    hints: [...hints, ...error.hints],
    evidence: { ...error.evidence, ...evidence },
    exitCode: error.exitCode,
    cause: error,
  });
}

export function errorFrom(failure: Failure, exitCode: ExitCode = exitOf(failure)): LifeboatError {
  return new LifeboatError(failure.code, failure.shortMessage, {
    hints: failure.hints,
    evidence: failure.evidence,
    exitCode,
  });
}

export function exitOf({ code }: Pick<Failure, 'code'>): ExitCode {
  if (BUSY.has(code)) return EXIT.waiting;
  if (code === 'doubt.unlisted') return EXIT.inDoubt;
  if (code === 'service.unsupported') return EXIT.usage;
  return code.startsWith('credentials.') ? EXIT.credentials : EXIT.failed;
}

/** The failure of anything thrown. Of a foreign error only the first line is kept, as evidence. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof LifeboatError) return thrown.toFailure();
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const file = fileTrouble(thrown);
  if (file !== undefined) return file;
  return {
    code: 'internal',
    shortMessage: 'lifeboat met an unexpected error',
    hints: ['what was written is kept: `lifeboat runs` and `lifeboat audit show` show the progress'],
    evidence: { error: (text.split('\n')[0] ?? '').slice(0, 300) },
  };
}

function fileTrouble(thrown: unknown): Failure | undefined {
  const { path } = thrown as NodeJS.ErrnoException;
  if (FILE_TROUBLE[errorCode(thrown) ?? ''] === undefined || path === undefined) return undefined;
  const { why, advice } = troubleWith(path, thrown);
  return {
    code: 'file.failed',
    shortMessage: `${show(path, LONGEST_PATH)} cannot be used: ${why}`,
    hints: [
      `what was written is kept: ${advice}, then try again`,
      '`lifeboat runs` and `lifeboat audit show` show the progress',
    ],
    evidence: { error: (thrown as Error).message.slice(0, 300) },
  };
}

/** By the code of the system's error. */
export const FILE_TROUBLE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EFBIG: 'the file size limit is exceeded',
  EROFS: 'the disk is read-only',
  EIO: 'the disk reports an error',
  EBUSY: 'it is in use',
  EMFILE: 'this process has too many files open',
  ENFILE: 'this machine has too many files open',
  EACCES: 'it is not allowed',
  EPERM: 'it is not allowed',
  ENOENT: 'it does not exist',
  EEXIST: 'something else has this name',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EISDIR: 'it is a folder',
  ELOOP: 'it is a link that leads back to itself',
  ENAMETOOLONG: 'its name is too long',
};

const SHORTER = 'name a shorter path';
const MAKE_ROOM = 'make room (`df -h` shows what is free)';
const LOOK_AT_RIGHTS = 'check owner and permissions of the path (`ls -ld` shows them)';

/** What helps, to follow a colon. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: MAKE_ROOM,
  EDQUOT: MAKE_ROOM,
  EROFS: 'name a path on a disk that can be written to',
  EACCES: LOOK_AT_RIGHTS,
  EPERM: LOOK_AT_RIGHTS,
  EEXIST: 'name another path',
  ENOTDIR: 'name another path',
  EISDIR: 'name a file',
  ELOOP: 'repair the link, or name the path that it should lead to',
  ENAMETOOLONG: SHORTER,
};

/** SQLite's errors about the disk below a database, by its primary result codes (sqlite.org/rescode.html). */
const SQLITE_TROUBLE: Readonly<Record<number, string>> = {
  3: 'permission is denied',
  8: 'it is read-only',
  10: 'the disk reports an error',
  13: 'the disk is full',
  14: 'one of its files cannot be opened or created',
};
const CANNOT_OPEN = 14;
/** SQLITE_IOERR_SHMSIZE: no room for the file beside the database. SQLite calls it a disk error. */
const NO_ROOM_BESIDE = 4874;
/** Bytes. SQLite accepts a path of 512 on Unix, and appends up to eight (os_unix.c, MAX_PATHNAME). */
const LONGEST_DATABASE = 504;
/** Characters of a path in a message: a longer one would push out the reason after it. */
const LONGEST_PATH = 120;

/** Why a file or database at a path cannot be used, and what helps, both as the end of a sentence. */
export function troubleWith(path: string, cause: unknown): { readonly why: string; readonly advice: string } {
  const result = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) & 0xff : undefined;
  const long = result === CANNOT_OPEN ? tooLongForDatabase(path) : undefined;
  if (long !== undefined) return { why: long, advice: SHORTER };
  if (cause instanceof Error && 'errcode' in cause && cause.errcode === NO_ROOM_BESIDE)
    return { why: 'the disk is full, or reports an error', advice: MAKE_ROOM };
  const code = errorCode(cause);
  return {
    why: SQLITE_TROUBLE[result ?? 0] ?? FILE_TROUBLE[code ?? ''] ?? code ?? 'an unknown error',
    advice: ADVICE[code ?? ''] ?? 'check the permissions of its folder and the space on its disk',
  };
}

export function tooLongForDatabase(path: string): string | undefined {
  const length = Buffer.byteLength(path);
  if (length <= LONGEST_DATABASE) return undefined;
  return `its path has ${length} bytes, and that of a database at most ${LONGEST_DATABASE}`;
}

/** The code of a system error, such as `ENOSPC`; undefined without one, and for our own errors. */
export function errorCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || thrown instanceof LifeboatError || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

export interface ProblemInFile {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
  /** The key, such as `instances.orders.url`; empty for the file as a whole. */
  readonly key: string;
  /** Lower case, without a full stop. Never repeats a value that may be secret. */
  readonly message: string;
}

/** In the format of compilers, which editors can jump to: `PATH:LINE:COLUMN: KEY: MESSAGE`. */
export function problemLine({ path, line, column, key, message }: ProblemInFile): string {
  return `${path}:${line}:${column}: ${key === '' ? '' : `${key}: `}${message}`;
}
