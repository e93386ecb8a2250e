import { spawn } from 'node:child_process';
import { dateAt, httpDate } from '../../base/date.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { redact } from '../../base/redact.ts';
import { beginningOf } from '../../base/run-shell.ts';
import type { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';
import type { Capi } from '../capi/capi.ts';
import { Errors } from '../capi/schemas.ts';
import { badAnswer, failedError, refusalOf, stopped } from '../problem.ts';

/** What the tool printed. Raw text of the platform: it is cleaned before it is shown. */
export interface ToolOutput {
  readonly exit: number | string;
  readonly out: string;
  readonly complaint: string;
}

export interface ToolCall {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Asked right before the tool is started for a change; when it throws, the tool is not started. */
  readonly mayLeave?: () => void;
  /** Blanked in what an error quotes. */
  readonly secrets?: readonly Secret[];
}

/** One call of the tool at its end. No argument is secret; of what it printed only the size is given. */
interface ToolHeard {
  readonly at: Date;
  readonly argv: readonly string[];
  /** The exit code or the signal; `undefined` when it was stopped or could not be run. */
  readonly exit: number | string | undefined;
  readonly bytes: number;
  readonly ms: number;
}

export type ToolTap = (heard: ToolHeard) => void;

/** The tool `cf` with a home of its own. */
export interface CfTool {
  /**
   * Runs it to its end, whatever that is. Rejects with `platform.stopped`, `platform.none` when it is not
   * installed, and `platform.failed` after the time.
   */
  run(args: readonly string[], call: ToolCall): Promise<ToolOutput>;
  /** The same; any exit but 0 rejects with `platform.failed` and the last words of the tool. */
  must(what: string, args: readonly string[], call: ToolCall): Promise<ToolOutput>;
}

const LOGGED_OUT =
  /not logged in|authentication has expired|refresh token|invalid auth token|use 'cf login'/iu;

const OUT_LIMIT = 8 * 1024 * 1024;
const COMPLAINT_LIMIT = 16 * 1024;

/**
 * `env` is the whole environment of the tool but for what is set here: plain output, no trace (it would print
 * tokens). No secret may be among the arguments: they can be seen by every process of the machine.
 */
export function cfTool(env: NodeJS.ProcessEnv, cfHome: string, tap?: ToolTap): CfTool {
  const childEnv = { ...env, CF_HOME: cfHome, CF_COLOR: 'false', CF_TRACE: 'false', LC_ALL: 'C' };
  const run: CfTool['run'] = async (args, call) => {
    call.mayLeave?.();
    const at = new Date();
    const tell = (output?: ToolOutput) =>
      tap?.({
        at,
        argv: ['cf', ...args],
        exit: output?.exit,
        bytes: Buffer.byteLength(output?.out ?? ''),
        ms: Date.now() - at.getTime(),
      });
    try {
      const output = await runOnce(args, call, childEnv);
      tell(output);
      return output;
    } catch (thrown) {
      tell();
      throw thrown;
    }
  };
  return {
    run,
    must: async (what, args, call) => {
      const output = await run(args, call);
      if (output.exit === 0) return output;
      if (LOGGED_OUT.test(`${output.out}\n${output.complaint}`)) throw loggedOut();
      throw failedError(`${what} has failed`, lastWords(output, call.secrets ?? []), { exit: output.exit });
    },
  };
}

/** What the tool said last: its reason stands on stderr, or under FAILED. */
function lastWords({ out, complaint }: ToolOutput, secrets: readonly Secret[]): string {
  const lines = `${out}\n${complaint}`.split(/[\r\n]+/u).map((line) => line.trim());
  const telling = lines.filter((line) => line !== '' && line !== 'FAILED').slice(-3);
  return show(redact(telling.join(' '), secrets), 300);
}

function runOnce(
  args: readonly string[],
  { signal, timeoutMs }: ToolCall,
  env: NodeJS.ProcessEnv,
): Promise<ToolOutput> {
  if (signal.aborted) return Promise.reject(stopped());
  const child = spawn('cf', args, { env, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  const out = beginningOf(child.stdout, OUT_LIMIT);
  const complaint = beginningOf(child.stderr, COMPLAINT_LIMIT);
  const timeout = AbortSignal.timeout(timeoutMs);
  const both = AbortSignal.any([signal, timeout]);
  return new Promise((resolve, reject) => {
    // The platform goes on with what it was asked for; the next call looks up what came of it.
    const stop = () => child.kill('SIGKILL');
    both.addEventListener('abort', stop, { once: true });
    child.once('error', (cause: NodeJS.ErrnoException) => {
      both.removeEventListener('abort', stop);
      reject(notRun(cause));
    });
    child.once('close', (code, killed) => {
      both.removeEventListener('abort', stop);
      if (signal.aborted) reject(stopped());
      else if (timeout.aborted) {
        reject(failedError(`the cf tool took longer than ${Math.round(timeoutMs / 1000)} s`, ''));
      } else resolve({ exit: code ?? killed ?? 'an error', out: out(), complaint: complaint() });
    });
  });
}

function loggedOut(): LifeboatError {
  return new LifeboatError('credentials.refused', 'the cf tool is no longer logged in', {
    hints: ['log in again: cf login, then go on: nothing is lost'],
    exitCode: EXIT.credentials,
  });
}

function notRun(cause: NodeJS.ErrnoException): LifeboatError {
  const why =
    cause.code === 'ENOENT' ? 'is not installed' : `cannot be run (${show(cause.code ?? 'error', 40)})`;
  return new LifeboatError('platform.none', `the cf tool ${why}`, {
    hints: ['install it and log in, or set `platform.api` in the config'],
    cause,
  });
}

const READ_MS = 60_000;
const STATUS = /^HTTP\/[\d.]+ (\d{3})/u;

/** Reads the v3 API through `cf curl -i`, which answers with exit 0 whatever the status is. */
export function capiByCf(tool: CfTool): Capi {
  return {
    get: async (path, schema, signal) => {
      const { out } = await tool.must('reading from the platform', ['curl', '-i', path], {
        signal,
        timeoutMs: READ_MS,
      });
      const { status, date, body } = split(out);
      const json = parse(body);
      const errors = Errors.safeParse(json).data?.errors;
      if (errors !== undefined || status >= 300) throw refusalOf(statusOf(status, errors), errors ?? []);
      const parsed = schema.safeParse(json);
      if (!parsed.success) throw badAnswer("the platform's answer has an unexpected shape");
      return { value: parsed.data, at: date };
    },
  };
}

/** Head and body of what the tool printed; a tool that leaves the head out is taken for a success. */
function split(out: string): { status: number; date: Date | undefined; body: string } {
  const status = STATUS.exec(out)?.[1];
  if (status === undefined) return { status: 200, date: undefined, body: out };
  const [head = '', ...rest] = out.split(/\r?\n\r?\n/u);
  const named = /^date:\s*(.+?)\r?$/imu.exec(head)?.[1];
  const dateMs = httpDate(named);
  return {
    status: Number(status),
    date: dateMs === undefined ? undefined : dateAt(dateMs),
    body: rest.join('\n\n'),
  };
}

/** Cloud Foundry's own numbers, where the status is not reported. */
function statusOf(
  status: number,
  errors: readonly { readonly code?: number | null | undefined }[] | undefined,
): number {
  if (status >= 300) return status;
  const code = errors?.[0]?.code ?? 0;
  if (code === 10010 || code === 10000) return 404;
  if (code === 10003) return 403;
  if (code === 1000 || code === 10002) return 401;
  if (code === 10013) return 429;
  return 422;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
