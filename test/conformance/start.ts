import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { type Api, makeApi } from './api.ts';
import { type Revision, Violation } from './check.ts';
import { call, ENDPOINTS, UNKNOWN } from './endpoints.ts';
import { type Exchange, excerptOf } from './exchange.ts';
import { CannotStart, isLoopback, type Options } from './options.ts';
import { SomeConfig, SomeOverview } from './shapes.ts';
import type { Found, Subject } from './subject.ts';
import { makeTrace, type Trace } from './trace.ts';

const PATIENCE = 60_000;

/**
 * Finds out what the server is: which form of the token it takes, its revision, whether V0 answers, and
 * whether the instance archives continuously. Sends only GETs. Rejects with `CannotStart` if there is no
 * answer, the token is refused, or `all` is asked for without the name typed.
 */
export async function start(options: Options): Promise<Subject> {
  const trace = makeTrace();
  const token = options.token.replace(/^bearer\s+/i, '');
  trace.expectSilence(token);
  const first = makeApi({
    ...options.address,
    authorization: undefined,
    watch: trace.watch,
    patience: PATIENCE,
  });
  try {
    const { api, v1, v0 } = await knock(first, options, token, trace);
    const revision = options.revision === 'auto' ? await revisionOf(api, v1) : options.revision;
    if (options.level === 'all') demandWord(options, nameOf(options, v1));
    const { readonlyToken, keyFile, level, deadline, poll } = options;
    const target = options.target === undefined ? undefined : api.with(options.target);
    const found = revision === 'v0' ? [] : await configsOf(api, level === 'all' ? target : undefined);
    const type = found[0]?.config.backup_type;
    if (readonlyToken !== undefined) trace.expectSilence(readonlyToken.replace(/^bearer\s+/i, ''));
    const key = level === 'all' && keyFile !== undefined ? readKey(keyFile) : undefined;
    if (key !== undefined) trace.expectSilence(key);
    return {
      api,
      revision,
      level,
      // A server that answers there in any other way has a V0, and it is wrong.
      v0: revision === 'v0' || v0 === undefined || ![404, 410].includes(v0.status),
      archiving: type === undefined ? undefined : type === 'continuous_archiving',
      target,
      found,
      readonlyApi:
        readonlyToken === undefined ? undefined : api.with({ authorization: schemed(readonlyToken) }),
      key,
      token,
      deadline,
      poll,
      trace,
    };
  } catch (error) {
    if (error instanceof Violation) throw new CannotStart(error.message);
    throw error;
  }
}

interface Knock {
  readonly api: Api;
  readonly v1: Exchange;
  /** Undefined when it could not be followed to its end. */
  readonly v0: Exchange | undefined;
}

/**
 * The document does not say whether a scheme word stands before the token, so the likelier form is tried
 * first.
 */
async function knock(first: Api, options: Options, token: string, trace: Trace): Promise<Knock> {
  let last: Exchange | undefined;
  for (const authorization of [...new Set([schemed(options.token), token])]) {
    const api = first.with({ authorization });
    const v1 = await call(api, ENDPOINTS.overview, UNKNOWN);
    const v0 = await call(api, ENDPOINTS.v0List, UNKNOWN).catch(() => undefined);
    // A server without V1 is as right as one without V0.
    if (v1.status === 200 || v1.status === 202 || v0?.status === 200) return { api, v1, v0 };
    last = v1;
  }
  const seen = last === undefined ? '' : `: ${excerptOf(last, trace.secrets)}`;
  throw new CannotStart(`neither V1 nor V0 lets the token look at the instance${seen}`);
}

/**
 * Reads field by field: a check reports a field of the wrong form. The checks that need the target report it
 * when it does not answer.
 */
async function configsOf(api: Api, target: Api | undefined): Promise<Subject['found']> {
  const found = [foundOf('the instance', api, await call(api, ENDPOINTS.getConfig, UNKNOWN))];
  if (target === undefined) return found;
  const answer = await call(target, ENDPOINTS.getConfig, UNKNOWN).catch(() => undefined);
  return answer === undefined ? found : [...found, foundOf('the target', target, answer)];
}

function foundOf(whose: string, api: Api, { json }: Exchange): Found {
  const shown = Object(json) as object;
  const fields = Object.entries(SomeConfig.shape).flatMap(([field, shape]) => {
    const { data } = shape.safeParse(Reflect.get(shown, field));
    return data === undefined ? [] : [[field, data] as const];
  });
  return { whose, api, config: SomeConfig.parse(Object.fromEntries(fields)) };
}

function schemed(token: string): string {
  return /^bearer\s/i.test(token) ? token : `bearer ${token}`;
}

/** Only revision 61 answers a V1 download with its 412, and only its lists say when a backup was started. */
async function revisionOf(api: Api, overview: Exchange): Promise<Revision> {
  if (overview.status !== 200 && overview.status !== 202) return 'v0';
  const download = await call(api, ENDPOINTS.v1Download, UNKNOWN);
  if (download.status === 412) return 61;
  const { json } = await call(api, ENDPOINTS.listBackups, UNKNOWN);
  const started = (backup: unknown) =>
    typeof backup === 'object' && backup !== null && 'started_at' in backup;
  return Array.isArray(json) && json.some(started) ? 61 : 62;
}

function nameOf({ address }: Options, overview: Exchange): string {
  return SomeOverview.safeParse(overview.json).data?.name ?? address.instance;
}

function demandWord({ address, target, meant }: Options, name: string): void {
  const here = isLoopback(address) && (target === undefined || isLoopback(target));
  if (here || meant === name) return;
  throw new CannotStart(
    meant === undefined
      ? '--changes all overwrites data on another machine: say --i-mean-it with the name of the instance'
      : '--i-mean-it is not the name of the instance',
  );
}

/** On disk before the service is given it: backups made from now on are worth nothing without it. */
function readKey(file: string): string {
  try {
    writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    const there = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!there) throw new CannotStart(`cannot write ${file}`, { cause: error });
  }
  const key = readFileSync(file, 'utf8').trim();
  if (key.length < 8) throw new CannotStart(`${file} holds no key of 8 or more characters`);
  return key;
}
