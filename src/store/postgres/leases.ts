import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import * as z from 'zod';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { jsonIn } from '../canonical.ts';
import type { Hold, Holder as StreamHolder, StreamName } from '../journal.ts';
import type { Link, Session } from './link.ts';
import { steadyNow } from './steady-clock.ts';
import type { Proof } from './write.ts';

export interface Lease extends Hold {
  readonly proof: Proof;
  /** The store says that the lease belongs to another process. */
  lose(why: string): void;
}

export interface Leases {
  /** Rejects with `journal.held`, naming the holder. */
  take(resource: StreamName): Promise<Lease>;
  /** Undefined unless the hold is of this store and was not released. */
  find(hold: Hold): Lease | undefined;
  /** Another process has the lease (`journal.conflict`), or may soon have it (`journal.lost-hold`). */
  whyLost(lease: Lease): Promise<LifeboatError>;
  close(): Promise<void>;
}

export interface LeaseOptions {
  /** Its own connection, so that a renewal waits for nothing else. */
  readonly link: Link;
  /** Shown to others who find the stream held. */
  readonly by: string;
  /** By the database's clock. Milliseconds. */
  readonly ttl: number;
}

/** Of any process's lease. Milliseconds. */
export const LONGEST_TTL = 15_000;

/** The clocks of two machines drift apart, so a holder relies on only this fraction of a lease. */
const SURELY = 0.95;

const Holder = z.object({ by: z.string(), pid: z.int(), host: z.string(), command: z.string() });

/*
 * A lease is a row with its end time, by the database's clock alone. Its token grows by one when it changes
 * hands. The nonce distinguishes holders if a promoted standby lost the newest tokens.
 */
const TAKE = `insert into lifeboat.leases as l (resource, token, nonce, holder, since, until)
values ($1, 1, $2::uuid, $3, clock_timestamp(), clock_timestamp() + $4::float8 * interval '1 ms')
on conflict (resource) do update set token = l.token + 1, nonce = excluded.nonce, holder = excluded.holder,
  since = excluded.since, until = clock_timestamp() + $4::float8 * interval '1 ms'
where l.until <= clock_timestamp() or l.nonce = excluded.nonce
returning token`;

/** After the clock was put back, leases end far in the future, even of dead processes: cut to the longest. */
const BOUND = `update lifeboat.leases set until = clock_timestamp() + $2::float8 * interval '1 ms'
where resource = $1 and until > clock_timestamp() + $2::float8 * interval '1 ms'`;

/** In the order of their names, as an append locks them. */
const RENEW = `with mine as materialized (
  select l.resource from lifeboat.leases l
  join unnest($1::text[], $2::bigint[], $3::uuid[]) h(resource, token, nonce) on l.resource = h.resource
  where l.token = h.token and l.nonce = h.nonce and l.until > clock_timestamp()
  order by l.resource for update of l
)
update lifeboat.leases l set until = clock_timestamp() + $4::float8 * interval '1 ms'
from mine where l.resource = mine.resource returning l.resource`;

const RELEASE = `update lifeboat.leases set until = '-infinity'
where resource = $1 and token = $2::bigint and nonce = $3::uuid and until > clock_timestamp()`;

const OTHER = `select 1 from lifeboat.leases where resource = $1 and nonce <> $2::uuid`;

const WHO = `select holder, to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
from lifeboat.leases where resource = $1 and until > clock_timestamp()`;

/** Renews leases after a third of their lifetime. Its timers keep no process alive. */
export function createLeases({ link, by, ttl }: LeaseOptions): Leases {
  const held = new Map<Hold, Held>();
  const holder = JSON.stringify({
    by: show(by, 120),
    pid: process.pid,
    host: hostname(),
    command: show(process.argv.slice(2).join(' '), 120),
  });
  let renewal: NodeJS.Timeout | undefined;

  const renew = async () => {
    const mine = [...held.values()].filter(({ lease }) => !lease.lost.aborted);
    if (mine.length === 0) return;
    const sent = steadyNow();
    const kept = await link.use((session) =>
      session.query<{ resource: string }>(RENEW, [
        mine.map(({ lease }) => lease.resource),
        mine.map(({ lease }) => lease.token),
        mine.map(({ lease }) => lease.proof.nonce),
        ttl,
      ]),
    );
    const names = new Set(kept.map(({ resource }) => resource));
    for (const one of mine) {
      if (names.has(one.lease.resource)) one.extend(sent);
      else one.lease.lose('it was taken over, or has ended by the clock of the database');
    }
  };

  const schedule = () => {
    if (renewal !== undefined || held.size === 0) return;
    renewal = setTimeout(async () => {
      // A failed renewal is retried next time; a lease not renewed in time expires by its own clock.
      await renew().catch(() => undefined);
      renewal = undefined;
      schedule();
    }, ttl / 3).unref();
  };

  const giveBack = async (one: Held) => {
    if (!held.delete(one.lease)) return;
    one.end();
    if (one.lease.lost.aborted) return;
    const { resource, token, nonce } = one.lease.proof;
    await link.use((session) => session.query(RELEASE, [resource, token, nonce])).catch(() => undefined);
  };

  return {
    async take(resource) {
      const nonce = randomUUID();
      const sent = steadyNow();
      const token = await link.use((session) => tokenOf(session, resource, [resource, nonce, holder, ttl]));
      const one = createHeld({ resource, token, nonce }, sent, ttl * SURELY, () => giveBack(one));
      held.set(one.lease, one);
      schedule();
      return one.lease;
    },
    find: (hold) => held.get(hold)?.lease,
    async whyLost({ resource, proof, lost }) {
      const others = await link
        .use((session) => session.query(OTHER, [resource, proof.nonce]))
        .catch((): readonly object[] => []);
      if (others.length > 0) return takenOver(resource);
      return lost.reason instanceof LifeboatError ? lost.reason : lostHold(resource, 'it has ended');
    },
    async close() {
      clearTimeout(renewal);
      await Promise.all([...held.values()].map(giveBack));
    },
  };
}

interface Held {
  readonly lease: Lease;
  extend(sent: number): void;
  end(): void;
}

function createHeld(proof: Proof, sent: number, surely: number, giveBack: () => Promise<void>): Held {
  const lost = new AbortController();
  let until = sent + surely;
  let isReleased = false;
  let timer: NodeJS.Timeout | undefined;
  const lasts = () => (isReleased || lost.signal.aborted ? 0 : Math.max(0, until - steadyNow()));
  const lose = (why: string) => {
    if (isReleased || lost.signal.aborted) return;
    clearTimeout(timer);
    lost.abort(lostHold(proof.resource, why));
  };
  const watch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (lasts() > 0) watch();
      else lose('the database could not be reached in time to renew it');
    }, lasts() + 1).unref();
  };
  watch();
  const lease: Lease = {
    resource: proof.resource as StreamName,
    token: proof.token,
    proof,
    lost: lost.signal,
    lose,
    lasts() {
      // After a stop longer than its lease, the timer is late but the clock is right.
      if (!isReleased && until <= steadyNow()) lose('this process was stopped for longer than a hold lasts');
      return lasts();
    },
    release: giveBack,
  };
  return {
    lease,
    extend(from) {
      if (lease.lasts() === 0) return;
      until = Math.max(until, from + surely);
      watch();
    },
    end() {
      isReleased = true;
      clearTimeout(timer);
    },
  };
}

function lostHold(resource: string, why: string): LifeboatError {
  return new LifeboatError('journal.lost-hold', `${resource} is not held any more: ${why}`, {
    hints: [
      'nothing more was sent: another process may go on with it',
      'when the database answers again: `lifeboat resume`, which looks at the service first',
    ],
  });
}

function takenOver(resource: string): LifeboatError {
  return new LifeboatError('journal.conflict', `${resource} was taken over by another process`, {
    hints: ['nothing was written: read it again before acting'],
  });
}

async function tokenOf(session: Session, resource: StreamName, values: readonly unknown[]): Promise<number> {
  for (;;) {
    const [taken] = await session.query<{ token: number }>(TAKE, values);
    if (taken !== undefined) return taken.token;
    await session.query(BOUND, [resource, LONGEST_TTL]);
    const [holder] = await session.query<{ holder: string; since: string }>(WHO, [resource]);
    // Only if it has not ended between the two queries.
    if (holder !== undefined) throw heldBy(resource, holder);
  }
}

/** From the row of the stream's lease. */
export async function holderOf(session: Session, resource: StreamName): Promise<StreamHolder | undefined> {
  const [row] = await session.query<{ holder: string; since: string }>(WHO, [resource]);
  const who = row && holderIn(row.holder);
  if (row === undefined || who === undefined) return undefined;
  const { by, pid, host } = who;
  const isHere = pid === process.pid && host === hostname();
  return { by: show(by, 60), pid, host: show(host, 60), since: show(row.since, 30), isHere };
}

function heldBy(
  resource: StreamName,
  { holder, since }: { readonly holder: string; readonly since: string },
) {
  const hints = ['if that process died, the hold ends with its lease, within seconds'];
  const who = holderIn(holder);
  if (who === undefined)
    return new LifeboatError('journal.held', `${resource} is held by another process`, { hints });
  const { by, pid, host, command } = who;
  const isOwn = pid === process.pid && host === hostname();
  const name = isOwn ? 'this process itself' : `${show(by, 60)} (process ${pid} on ${show(host, 60)})`;
  return new LifeboatError('journal.held', `${resource} is held by ${name}, since ${show(since, 30)}`, {
    hints,
    evidence: { by, pid, host, since, command },
  });
}

export function holderIn(text: string): z.infer<typeof Holder> | undefined {
  return Holder.safeParse(jsonIn(text)).data;
}
