import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, optionKey } from '../../machines/parts/question.ts';
import type { ActivityDeps } from '../../src/activities/deps.ts';
import { activitiesFor } from '../../src/activities/index.ts';
import { Secret } from '../../src/base/secret.ts';
import { autopilot, type Policy } from '../../src/commands/run/autopilot.ts';
import { inputFrom } from '../../src/commands/run/run-input.ts';
import { depsFor } from '../../src/compose/activity-deps.ts';
import { runbookNamed } from '../../src/compose/runbook-files.ts';
import type { OpenInstance } from '../../src/compose/service-of.ts';
import { InstanceConfig } from '../../src/config/schema.ts';
import { memoryStore } from '../../src/keys/key-store.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { openPlatform } from '../../src/platform/open.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { questionOf } from '../../src/runner/answer.ts';
import type { Run } from '../../src/runner/run.ts';
import { startRun } from '../../src/runner/runs.ts';
import { takeUp } from '../../src/runner/take-up.ts';
import { addressFrom } from '../../src/service/address.ts';
import { openService } from '../../src/service/open.ts';
import type { Journal } from '../../src/store/journal.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import type { TestBench } from '../bench-kit/test-bench.ts';
import { freshDatabase } from '../crash/database.ts';
import { freshSigner } from '../store/fresh-signer.ts';
import { type Flow, flagsIn } from './flows.ts';
import type { Peers } from './peers.ts';

/** The product in this process, on a service and a platform behind proxies that inject faults. */
export interface Stage {
  /** Begins a run as `lifeboat run` does; gives its id. */
  begin(words: readonly string[]): Promise<Begun>;
  /** Takes it up, lets `steer` lead it until it has left, and lets go of it. */
  drive<Left>(begun: Begun, steer: (run: Run) => Promise<Left>): Promise<Left>;
  readonly journal: Journal;
  /** Sets a key on the target, and keeps it, as `lifeboat backup-config set --new-key` does. */
  keyTarget(): Promise<void>;
  close(): Promise<void>;
}

export interface Begun {
  readonly runId: string;
  readonly runbook: string;
  readonly time: string | undefined;
  readonly target: string | undefined;
}

/**
 * Every other limit is the product's own. No test waits a quarter of an hour for one answer; and a silence is
 * counted in undici's own ticks, which a busy machine makes late.
 */
const LIMITS = { sendMs: 150_000, downloadHeadersMs: 150_000, headersMs: 10_000, bodyMs: 20_000 };

/** A stage on which a flow has begun. */
export interface Opened {
  readonly stage: Stage;
  readonly begun: Begun;
}

/** Begins a flow, after the runs that it needs have closed without a fault. */
export async function beginFlow(peers: Peers, flow: Flow): Promise<Opened> {
  const stage = await openStage(peers, flow);
  try {
    return { stage, begun: await beginOn(stage, peers, flow) };
  } catch (thrown) {
    await stage.close();
    throw thrown;
  }
}

async function beginOn(stage: Stage, peers: Peers, flow: Flow): Promise<Begun> {
  const bench = asBench(peers);
  await flow.ready?.(bench);
  for (const words of flow.before) {
    if (words[0] === 'backup-config') {
      await stage.keyTarget();
      continue;
    }
    const earlier = await stage.begin(words);
    const { exitCode, why } = await stage.drive(earlier, byFlags(flow, earlier));
    if (exitCode !== 0) throw new Error(`${words.join(' ')} ended with ${exitCode}: ${why}`);
  }
  const begun = await stage.begin(flow.args(bench));
  peers.director.arm();
  return begun;
}

/** Opens a home with a key, and clients that go through the proxies of `peers`. */
async function openStage(peers: Peers, { revision, platform: isBound }: Flow): Promise<Stage> {
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-faults-'));
  mkdirSync(join(home, 'home'), { mode: 0o700 });
  const database = process.env['FAULTS_STORE'] === 'postgres' ? await freshDatabase() : undefined;
  const journal = await openStore(join(home, 'home'), database?.address);
  const keyring = openKeyring(memoryStore());
  await keyring.add('orders', new Secret(CANARIES.oldKey));

  const openInstance = (name: string): OpenInstance => {
    const url = peers.urlOf(name);
    const config = InstanceConfig.parse({ url, revision, inFlight: '20s', apps: [] });
    const token = async () => new Secret(`Bearer ${CANARIES.token}`);
    const service = openService(addressFrom(url, revision), { token, caFile: peers.caFile, limits: LIMITS });
    const close = () => service.close();
    return { name, config, service, revision, token, hideEnv: [], [Symbol.asyncDispose]: close };
  };

  const drive: Stage['drive'] = async ({ runId, runbook, target }, steer) => {
    const instance = openInstance('orders');
    const other = target === undefined ? undefined : openInstance(target);
    let opened: Platform | undefined;
    const platform: ActivityDeps['platform'] = async () => {
      if (!isBound || peers.platformUrl === undefined) return { none: 'there is none' };
      const found = await openPlatform(
        { platform: { api: peers.platformUrl, token: { env: 'NONE' }, ca: peers.caFile } },
        { tokenOf: () => async () => new Secret(`bearer ${CANARIES.otherToken}`), env: {}, limits: LIMITS },
      );
      if ('close' in found) opened = found;
      return found;
    };
    let once: ReturnType<ActivityDeps['platform']> | undefined;
    const parts = {
      home: join(home, 'home'),
      keyring,
      journal,
      platform: () => {
        once ??= platform();
        return once;
      },
    };
    const run = await takeUp({
      journal,
      runbook: runbookNamed(runbook),
      runId,
      instance: 'orders',
      target,
      now: () => new Date(),
      leaveWhenPaused: true,
      leaveGraceMs: 1_000,
      seal: async () => undefined,
      take: async (key) => ({ fingerprint: await keyring.fingerprint(key), length: key.length }),
      activities: activitiesFor({
        instance: depsFor(instance, parts),
        target: other && depsFor(other, parts),
      }),
    });
    const unwatch = peers.director.watch(run);
    try {
      return await steer(run);
    } finally {
      unwatch();
      await instance.service.close();
      await other?.service.close();
      await opened?.close();
    }
  };

  return {
    journal,
    drive,
    keyTarget: async () => {
      const key = new Secret(CANARIES.givenKey);
      await keyring.add('orders-dr', key);
      await using instance = openInstance('orders-dr');
      const { outcome } = await instance.service.changeBackupsConfig({ encryption_key: key });
      if (outcome !== 'accepted') throw new Error(`the target took no key: ${outcome}`);
    },
    begin: async (words) => {
      const { runbook, flags } = flagsIn(words);
      const input = await inputFrom(runbookNamed(runbook), flags as never, new Date(), false);
      const runId = await startRun(journal, {
        runbook: runbookNamed(runbook),
        instance: 'orders',
        target: flags.target,
        input,
        mode: 'LIVE',
        operator: 'Robin',
        tool: { name: 'lifeboat', version: '0', node: process.version },
      });
      const time = input['time'];
      return { runId, runbook, target: flags.target, time: typeof time === 'string' ? time : undefined };
    },
    close: async () => {
      await journal.close();
      await database?.drop();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The fast clock must not make a lease, or the patience with a database, shorter than they are. */
async function openStore(home: string, address: string | undefined): Promise<Journal> {
  const options = { by: 'Robin', signer: freshSigner(), projections: PROJECTIONS };
  if (address === undefined) return openSqliteStore({ home, ...options });
  const speed = Number(process.env['FAULTS_SPEED'] ?? 1);
  const slow = { ttl: 15_000 * speed, patience: 20_000 * speed, statement: 15_000 * speed };
  return openPostgresStore({ address, env: {}, ...options, ...slow });
}

/**
 * What the flags of the command line answer, for a person who freezes maintenance updates wherever that is
 * offered.
 */
export function byFlags({ confirm }: Flow, { time }: Begun, more: Partial<Policy> = {}) {
  return (run: Run) => autopilot(holdingBack(run), { yes: true, confirm, time, ...more });
}

/** The same run, but for the question that no flag answers like this. */
function holdingBack(run: Run): Run {
  const answer = (given: Answer) => {
    const question = questionOf(run.state().snapshot);
    const held = question?.options.find(({ event }) => event.type === 'operator.holdBack');
    return run.answer(
      held === undefined ? given : { event: optionKey(held.event), text: 'they are allowed' },
    );
  };
  return {
    ended: run.ended,
    holds: run.holds,
    state: () => run.state(),
    subscribe: (listener) => run.subscribe(listener),
    answer,
    tell: (event, notes) => run.tell(event, notes),
    note: (notes) => run.note(notes),
    wake: () => run.wake(),
    detach: (why) => run.detach(why),
  };
}

/** What the flows of the end-to-end tests ask a bench for. */
function asBench(peers: Peers): TestBench {
  const { server } = peers;
  const run = async () => {
    const { start, end } = server.instance('orders').range() ?? { start: new Date(0), end: new Date(0) };
    const answer = { start_time: start.toISOString(), end_time: end.toISOString() };
    return { stdout: JSON.stringify({ answer }) };
  };
  return { server, run } as unknown as TestBench;
}
