import type { Dispatcher } from 'undici';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { redact } from '../base/redact.ts';
import { childEnvironment, runShell } from '../base/run-shell.ts';
import { Secret } from '../base/secret.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { timeLimit } from '../base/time-limit.ts';
import type { NotifyConfig } from '../config/loaded.ts';
import { isLoopback } from '../service/address.ts';
import { errorCode } from '../service/failures.ts';
import { DEFAULT_LIMITS, retryAfterMs } from '../service/limits.ts';
import { type TokenSource, tokenReader } from '../service/token-source.ts';

/** The result of one attempt. */
export interface Sent {
  readonly outcome: 'delivered' | 'failed';
  readonly status?: number | undefined;
  /** `timeout`, `ECONNREFUSED`, `exit 3`, `credentials.missing`; `left` if this process ended the attempt. */
  readonly why?: string | undefined;
  /** The pause that the receiver asks for with an error, in seconds. */
  readonly retryAfter?: number | undefined;
  /** The beginning of the receiver's answer, without the secrets that it was sent; not cleaned. */
  readonly said?: string;
}

/** Milliseconds for one attempt, whatever it waits for. */
const LIMIT_MS = 10_000;
const LONGEST_ANSWER = 4 * 1024;
/** Reads more than is shown: redaction would miss a secret that is cut in half. */
const LONGEST_READ = 64 * 1024;

/**
 * Sends a notification once: a POST of JSON that follows no redirect, or a command with the JSON on its
 * standard input. A 2xx answer or exit code 0 counts as delivered. Never rejects; ends within ten seconds,
 * and at once on abort.
 */
export async function send(target: NotifyConfig, body: string, signal: AbortSignal): Promise<Sent> {
  const limit = timeLimit(LIMIT_MS);
  const stop = AbortSignal.any([signal, limit]);
  try {
    return 'command' in target ? await run(target, body, signal) : await post(target, body, stop);
  } catch (thrown) {
    if (signal.aborted) return { outcome: 'failed', why: 'left' };
    if (limit.aborted) return { outcome: 'failed', why: 'timeout' };
    const why = thrown instanceof LifeboatError ? thrown.code : errorCode(thrown);
    return { outcome: 'failed', why: why.slice(0, 60) };
  }
}

type Webhook = Extract<NotifyConfig, { readonly url: unknown }>;

/**
 * A webhook's address and headers, and which parts are secret. Rejects as the sources do, and with
 * `config.notify` for an address that is neither https nor http on this machine.
 */
export async function addressOf({ name, url, headers, hideEnv }: Omit<Webhook, 'on'>): Promise<{
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly Secret[];
}> {
  const read = async (source: TokenSource, scheme: string | undefined) =>
    (await tokenReader({ ...source, scheme }, { keychain: async () => undefined, hideEnv })()).reveal();
  const text = typeof url === 'string' ? url : await read(url, 'none');
  const reads = Object.entries(headers).map(async ([header, source]): Promise<[string, string]> => {
    // Only this header has a scheme by definition.
    const usual = header.toLowerCase() === 'authorization' ? undefined : 'none';
    return [header.toLowerCase(), await read(source, source.scheme ?? usual)];
  });
  const values = await Promise.all(reads);
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe =
    parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isLoopback(parsed.hostname));
  if (parsed === undefined || !isSafe || parsed.username !== '' || parsed.password !== '') {
    throw new LifeboatError('config.notify', `the url of the target ${name} is not a plain https address`, {
      hints: ['http goes only to this machine; a user or password belongs in a header'],
      exitCode: EXIT.usage,
    });
  }
  const secrets = [...values.map(([, value]) => value), ...(typeof url === 'string' ? [] : wordsOf(parsed))];
  return {
    url: parsed,
    headers: Object.fromEntries(values),
    secrets: secrets.map((secret) => new Secret(secret)),
  };
}

/** Parts of an address that may be the secret: everything after the host that is long enough to be one. */
function wordsOf({ href, pathname, search, searchParams }: URL): readonly string[] {
  const words = [...pathname.split('/'), ...searchParams.values()].filter((word) => word.length >= 8);
  return [href, `${pathname}${search}`, ...words].filter((word) => word !== '/');
}

async function post(target: Webhook, body: string, signal: AbortSignal): Promise<Sent> {
  const { url, headers, secrets } = await addressOf(target);
  const { networkFor } = await import('../service/network.ts');
  const { dispatcher, close } = networkFor(url.origin, target.ca, DEFAULT_LIMITS).openForReads();
  try {
    const {
      statusCode: status,
      headers: received,
      body: answer,
    } = await dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      headers: {
        ...headers,
        accept: '*/*',
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        'user-agent': 'lifeboat',
      },
      body,
      signal,
    });
    const outcome = status >= 200 && status < 300 ? 'delivered' : 'failed';
    const asked = outcome === 'failed' ? retryAfterMs(received['retry-after']) : undefined;
    const retryAfter = asked === undefined ? {} : { retryAfter: Math.ceil(asked / 1000) };
    return { outcome, status, ...retryAfter, said: withoutSecrets(await textOf(answer), secrets) };
  } finally {
    close().catch(() => undefined);
  }
}

function withoutSecrets(said: string, secrets: readonly Secret[] = []): string {
  return redact(said, secrets).slice(0, LONGEST_ANSWER);
}

/** The status counts even if reading the rest fails. */
async function textOf(answer: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size >= LONGEST_READ) break;
    }
  } catch {}
  return Buffer.concat(chunks).toString('utf8');
}

async function run(
  { command, hideEnv }: Extract<NotifyConfig, { readonly command: unknown }>,
  input: string,
  signal: AbortSignal,
): Promise<Sent> {
  const env = childEnvironment(hideEnv);
  const text = typeof command === 'string' ? command : command.map(shellQuoted).join(' ');
  const { exit, stdout, stderr } = await runShell(text, { env, timeoutMs: LIMIT_MS, signal, input });
  // A secret that only the command knows can be recognised only by its usual shape.
  const said = withoutSecrets(stderr.trim() === '' ? stdout : stderr);
  if (exit === 0) return { outcome: 'delivered', said };
  return { outcome: 'failed', why: typeof exit === 'number' ? `exit ${exit}` : exit.slice(0, 60), said };
}
