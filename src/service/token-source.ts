import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { readBounded, UnusableFile } from '../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { redact } from '../base/redact.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { refuseDistrusted } from '../base/trusted-path.ts';

/** Where the token comes from. `scheme` is put before a token without scheme word; `none` sends it bare. */
export type TokenSource = (
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: string }
  | { readonly keychain: true }
) & { readonly scheme?: string | undefined };

/**
 * Reads the source anew and gives the value of the `Authorization` header. Rejects with `credentials.missing`
 * when there is no usable token. Its messages never quote the token, nor the command that prints it.
 */
export type TokenReader = () => Promise<Secret>;

export interface TokenHelpers {
  /** Looks the token up in the key store; `undefined` means it is not there. */
  readonly keychain: () => Promise<Secret | undefined>;
  /** Variables a token command does not get to see, such as those that hold other instances' tokens. */
  readonly hideEnv?: readonly string[];
  /** Default 30 s. */
  readonly commandTimeoutMs?: number;
}

/** Makes the reader of a token source. Nothing is read until the reader is called. */
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
      hideEnv: helpers.hideEnv ?? [],
      timeoutMs: helpers.commandTimeoutMs ?? 30_000,
    });
  }
  const stored = await helpers.keychain().catch((error: unknown) => {
    throw error instanceof LifeboatError ? error : missing('the keychain cannot be read');
  });
  if (stored === undefined) throw missing(`${placeOf(source)} does not exist`);
  return stored;
}

/** For a run it is as if there were no token: it waits for another. */
const FOREIGN = { code: 'credentials.missing', exitCode: EXIT.credentials };

async function readTokenFile(path: string): Promise<Secret> {
  try {
    const bytes = await readBounded(path, TOKEN_LIMIT_BYTES, (opened) =>
      refuseDistrusted('token file', path, opened, FOREIGN),
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

/** A header line of more than this is refused by every router there is. */
const TOKEN_LIMIT_BYTES = 64 * 1024;
const STDERR_LIMIT_BYTES = 4 * 1024;
/** How long what the shell printed may take to arrive after it has ended. */
const PIPES_MS = 250;

interface TokenCommandOptions {
  readonly hideEnv: readonly string[];
  readonly timeoutMs: number;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/**
 * Runs a command through the shell and gives what it printed. When it fails, prints too much or takes too
 * long, rejects with `credentials.missing`; the message quotes the first bytes of its stderr, cleaned of
 * whatever it had printed as token.
 */
async function runTokenCommand(command: string, options: TokenCommandOptions): Promise<Secret> {
  const env = { ...process.env };
  for (const name of options.hideEnv) delete env[name];
  const child = spawn(command, {
    shell: true,
    // A group of its own, so that a timeout also ends what the shell has started.
    detached: process.platform !== 'win32',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const output = collect(child.stdout, TOKEN_LIMIT_BYTES, () => end(child));
  const complaint = collect(child.stderr, STDERR_LIMIT_BYTES);
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const exit = await ended(child, timeout);

  if (timeout.aborted) throw failed(`took longer than ${options.timeoutMs / 1000} s`);
  if (output.overflowed()) throw failed('printed too much for a token');
  if (exit === 0) return new Secret(output.text());
  const printed = output
    .text()
    .split(/\s+/u)
    .filter((word) => word.length > 5)
    .map((word) => new Secret(word));
  const words = show(redact(complaint.text(), printed).trim(), 200);
  throw failed(`ended with ${exit}${words === '' ? '' : `: "${words}"`}`);
}

function collect(stream: Readable, limit: number, onOverflow?: () => void) {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    if (size <= limit) chunks.push(chunk);
    size += chunk.length;
    if (size > limit) onOverflow?.();
  });
  return {
    text: () => Buffer.concat(chunks).subarray(0, limit).toString('utf8'),
    overflowed: () => size > limit,
  };
}

function ended(child: Child, stop: AbortSignal): Promise<number | string> {
  return new Promise((resolve) => {
    const letGo = () => {
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const onStop = () => {
      end(child);
      // A grandchild in a session of its own may still hold the pipes; nobody waits for it.
      letGo();
    };
    stop.addEventListener('abort', onStop, { once: true });
    const finish = (exit: number | string) => {
      stop.removeEventListener('abort', onStop);
      resolve(exit);
    };
    child.once('error', (error: NodeJS.ErrnoException) => finish(error.code ?? 'an error'));
    // What it leaves running (an agent, a connection that is kept) may hold the pipes for ever, and is none
    // of ours.
    child.once('exit', () => setTimeout(letGo, PIPES_MS).unref());
    child.once('close', (code, signal) => finish(code ?? signal ?? 'an error'));
  });
}

function end(child: Child): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It ended by itself a moment ago.
  }
}

function failed(what: string): LifeboatError {
  return new LifeboatError('credentials.missing', `the token command ${what}`, {
    hints: ['run the command by hand to see why', 'nothing was sent: it is safe to try again'],
    exitCode: EXIT.credentials,
  });
}
