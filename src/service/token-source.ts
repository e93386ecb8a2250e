import { performance } from 'node:perf_hooks';
import { readBounded, UnusableFile } from '../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { redact } from '../base/redact.ts';
import { childEnvironment, runShell } from '../base/run-shell.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { assertTrusted } from '../base/trusted-path.ts';

/** `scheme` is put before a token without a scheme word; `none` sends it bare. */
export type TokenSource = (
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: string }
  | { readonly keychain: true }
) & { readonly scheme?: string | undefined };

/**
 * The value of the `Authorization` header. Rejects with `credentials.missing` if there is no usable token.
 * Messages never quote the token, nor the command that prints it.
 */
export type TokenReader = () => Promise<Secret>;

export interface TokenHelpers {
  /** Undefined if the key store does not have the token. */
  readonly keychain: () => Promise<Secret | undefined>;
  /** Withheld from a token command, such as variables with other instances' tokens. */
  readonly hideEnv?: readonly string[];
  /** For a token command, minus those; default that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Default 30 s. */
  readonly commandTimeoutMs?: number;
}

/** Reads nothing until the reader is called. */
export function tokenReader(source: TokenSource, helpers: TokenHelpers): TokenReader {
  return async () => {
    const raw = await readRaw(source, helpers);
    const place = placeOf(source);
    const text = raw.reveal().trim();
    if (text === '') throw missing(`${place} is empty`);
    const line = 'command' in source ? tokenLine(text) : text;
    if (/[\r\n]/u.test(line)) throw missing(`${place} holds more than one line`);
    // RFC 9110 section 5.5, without the obsolete bytes above ASCII.
    if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/u.test(line)) {
      throw missing(`${place} holds characters that do not fit into a header`);
    }
    return new Secret(withScheme(line, source.scheme));
  };
}

async function readRaw(source: TokenSource, helpers: TokenHelpers): Promise<Secret> {
  if ('env' in source) {
    const value = process.env[source.env];
    if (value === undefined) throw missing(`${placeOf(source)} is not set`);
    return new Secret(value);
  }
  if ('file' in source) return readTokenFile(source.file);
  if ('command' in source) {
    return runTokenCommand(source.command, {
      env: childEnvironment(helpers.hideEnv ?? [], {}, helpers.env),
      timeoutMs: helpers.commandTimeoutMs ?? 30_000,
    });
  }
  const stored = await helpers.keychain().catch((error: unknown) => {
    throw error instanceof LifeboatError ? error : missing('the keychain cannot be read');
  });
  if (stored === undefined) throw missing(`${placeOf(source)} does not exist`);
  return stored;
}

/** For a run this means that there is no token: it waits for another. */
const FOREIGN = { code: 'credentials.missing', exitCode: EXIT.credentials };

async function readTokenFile(path: string): Promise<Secret> {
  try {
    const bytes = await readBounded(path, TOKEN_LIMIT_BYTES, (opened) =>
      assertTrusted('token file', path, opened, FOREIGN),
    );
    return new Secret(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof LifeboatError) throw error;
    const why = error instanceof UnusableFile ? `: ${error.message}` : '';
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw missing(`the token file ${show(path)} ${reason}${why}`);
  }
}

/** Older `cf oauth-token` prints progress too: the token is the one line with the scheme word. */
function tokenLine(text: string): string {
  const lines = text.split(/[\r\n]+/u).map((line) => line.trim());
  const [only, second] = lines.filter((line) => /^bearer\s+\S+$/iu.test(line));
  return lines.length > 1 && only !== undefined && second === undefined ? only : text;
}

function withScheme(token: string, scheme: string | undefined): string {
  if (scheme === 'none' || /\s/u.test(token)) return token;
  return `${scheme ?? 'Bearer'} ${token}`;
}

function placeOf(source: TokenSource): string {
  if ('env' in source) return `the token variable ${show(source.env)}`;
  if ('file' in source) return `the token file ${show(source.file)}`;
  if ('command' in source) return 'the output of the token command';
  return 'the token in the keychain';
}

function missing(shortMessage: string): LifeboatError {
  return new LifeboatError('credentials.missing', shortMessage, {
    hints: [
      'nothing was sent: put a token in place and try again',
      '`lifeboat doctor` checks the token source',
    ],
    exitCode: EXIT.credentials,
  });
}

/** Every router refuses a longer header line. */
const TOKEN_LIMIT_BYTES = 64 * 1024;

interface TokenCommandOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
}

/**
 * Through the shell. If it fails, prints too much or takes too long, rejects with `credentials.missing`; the
 * message quotes the first bytes of its stderr, with any printed token removed.
 */
async function runTokenCommand(command: string, { env, timeoutMs }: TokenCommandOptions): Promise<Secret> {
  const { signal } = new AbortController();
  // It may leave an agent running, or keep a connection open; those are left alone.
  const how = { env, timeoutMs, signal, endsWhenFull: true, leavesOthers: true };
  const { exit, stdout, stderr } = await runShell(command, how);

  if (exit === 'timeout') throw failed(`took longer than ${timeoutMs / 1000} s`);
  if (exit === 'too much') throw failed('printed too much for a token');
  if (exit === 0) return new Secret(stdout);
  const printed = stdout
    .split(/\s+/u)
    .filter((word) => word.length > 5)
    .map((word) => new Secret(word));
  const words = show(redact(stderr, printed).trim(), 200);
  throw failed(`ended with ${exit}${words === '' ? '' : `: "${words}"`}`);
}

function failed(what: string): LifeboatError {
  return new LifeboatError('credentials.missing', `the token command ${what}`, {
    hints: ['run the command by hand to see why', 'nothing was sent: it is safe to try again'],
    exitCode: EXIT.credentials,
  });
}

/** The object's identity distinguishes readings of the source. */
export interface HeldToken {
  readonly value: Secret;
}

export interface TokenCache {
  /** Reads the source only if there is no token yet. */
  current(): Promise<HeldToken>;
  /** Reads the source now, unless `ready` has just done so. */
  fresh(): Promise<HeldToken>;
  /** Reads the source for the next `fresh`, so that it does not wait for a command. */
  ready(): Promise<void>;
  /** After a 401 on `refused`: is there another token? Read once for all callers. */
  renew(refused: HeldToken): Promise<boolean>;
}

/** A token read in advance is valid for this time; after that it may have expired. */
const READY_MS = 60_000;

/** One reading for all calls: a command like `cf oauth-token` takes a second or more. */
export function holdToken(read: TokenReader): TokenCache {
  let held: HeldToken | undefined;
  let reading: Promise<HeldToken> | undefined;

  let readyAt: number | undefined;

  const readAnew = (): Promise<HeldToken> => {
    reading ??= read()
      .then((value) => {
        // An unchanged token keeps its identity: sending it again would be refused again.
        if (held === undefined || !held.value.equals(value)) held = { value };
        return held;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };

  return {
    current: async () => held ?? readAnew(),
    fresh: async () => {
      const isReady = readyAt !== undefined && performance.now() - readyAt < READY_MS;
      readyAt = undefined;
      return isReady && held !== undefined ? held : readAnew();
    },
    ready: async () => {
      await readAnew();
      readyAt = performance.now();
    },
    renew: async (refused) => {
      if (held !== refused) return true;
      try {
        return (await readAnew()) !== refused;
      } catch {
        // The 401 is more informative than a source that fails now.
        return false;
      }
    },
  };
}
