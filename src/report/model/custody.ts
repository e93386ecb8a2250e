import { formatTime } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import { type Custody, NO_CUSTODY, nextCustody } from '../../store/projections/custody.ts';
import { foldHolders } from '../../store/projections/holders.ts';
import type { Report } from './model.ts';
import type { Fact } from './model-rows.ts';

/** The ledgers of the run's instances, and the proofs of holders that they can open copies. */
interface CustodyEntries {
  readonly history: readonly Entry[];
  readonly holders: readonly Entry[];
}

/**
 * Who could open the instances' keys at `until`, the time of the run's last entry: the newest sealed copies
 * of each key, and the newest proof of each holder. Pure.
 */
export function custodyOf({ history, holders }: CustodyEntries, until: string): Fact[] {
  const isThen = ({ at }: Entry) => msOf(at) <= msOf(until);
  const byInstance = Map.groupBy(history.filter(isThen), ({ stream }) => stream);
  const copies = [...byInstance].flatMap(([stream, entries]) => {
    const instance = stream.slice('instance/'.length);
    return Object.entries(entries.reduce(nextCustody, NO_CUSTODY).keys).flatMap((key) =>
      copyFacts(instance, key),
    );
  });
  if (copies.length === 0) return [];
  const proofs = foldHolders(holders.filter(isThen)).flatMap(({ recipient, provenAt, provenBy }): Fact[] =>
    provenAt === undefined
      ? [{ label: `Holder ${short(recipient)}`, value: 'was asked, and has not shown that a copy opens' }]
      : [
          {
            label: `Holder ${short(recipient)}`,
            value: `opened a challenge on ${formatTime(provenAt)} UTC, recorded by ${provenBy}`,
          },
        ],
  );
  return [...copies, ...proofs];
}

function copyFacts(instance: string, [fingerprint, { escrowed }]: [string, Custody['keys'][string]]): Fact[] {
  if (escrowed === undefined) return [];
  const places = escrowed.places.map(({ place }) => place).join(', ');
  const value =
    `sealed on ${formatTime(escrowed.at)} UTC to ${escrowed.recipients.map(short).join(', ')}; ` +
    `copies in ${places}`;
  return [{ label: `Key ${fingerprint} of ${instance}`, value }];
}

function short(recipient: string): string {
  return `${recipient.slice(0, 12)}…${recipient.slice(-6)}`;
}

/** Keys that were destroyed although something needed them: that concerns every run of the instance. */
export function forcedEnds(history: readonly Entry[]): Report['alarms'] {
  return history.flatMap(({ type, body, at, by, stream }) => {
    const { fingerprint, because } = fieldsOf(body) ?? {};
    if (type !== 'custody.destroyed' || typeof because !== 'string') return [];
    const title = 'KEY DESTROYED BY FORCE: backups may exist that nobody can open';
    const of = stream.slice('instance/'.length);
    return [{ title, text: `key ${String(fingerprint)} of ${of}: ${because}`, at, by }];
  });
}
