import { EXIT } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { isPostgres } from '../../config/store-address.ts';
import { storeNamed } from '../../config/store-named.ts';
import { type Entry, LOG_STREAM } from '../../store/journal.ts';
import {
  believedKeys,
  hearLog,
  NOTHING_SAID,
  namedKey,
  parsePublicKeys,
} from '../../store/log/named-keys.ts';
import { RIGHTS_WORDS, type StoreRights } from '../../store/rights.ts';
import type { Volume } from '../../store/volume.ts';
import { sideOf } from './side.ts';
import { type QueueStatus, queueOf, volumeLines } from './volume-lines.ts';

/**
 * `lifeboat store status`: prints where the entries are, how many, how fast they grow, who signs, who now
 * holds what, and what waits for workers. Changes nothing.
 */
export async function storeStatus(context: CommandContext): Promise<number> {
  const address = await storeNamed(context.env, context.configPath);
  const side = sideOf(context, address);
  const reader = await openJournalIfAny(context);
  try {
    const entries = (await reader?.read(LOG_STREAM)) ?? [];
    const { origin, movedTo } = hearLog(NOTHING_SAID, entries);
    const { size, root } = (await reader?.log.head()) ?? { size: 0, root: '' };
    const status = {
      engine: isPostgres(address) ? ('postgresql' as const) : ('sqlite' as const),
      where: side.shown,
      origin,
      size,
      ...(size === 0 ? {} : { root }),
      movedTo,
      installations: installationsIn(entries, origin),
      holders: await side.holders(),
      rights: await side.rights(),
      places: await newestInPlaces(context, origin),
      ...(reader === undefined ? {} : await side.volume()),
      ...(await queueOf(context)),
    };
    await printResult(context, 'store', status, () => {
      for (const line of linesOf(status)) context.stdout.write(`${line}\n`);
    });
    return EXIT.closed;
  } finally {
    await reader?.close();
  }
}

interface Status extends Partial<Volume> {
  readonly engine: string;
  readonly where: string;
  readonly origin: string | undefined;
  readonly size: number;
  readonly root?: string;
  readonly movedTo: string | undefined;
  readonly installations: ReturnType<typeof installationsIn>;
  readonly holders: readonly string[];
  readonly places: Awaited<ReturnType<typeof newestInPlaces>>;
  readonly queue?: QueueStatus;
  readonly rights: StoreRights | undefined;
}

function linesOf(status: Status): readonly string[] {
  const { engine, where, origin, size, root, movedTo, installations, holders, places } = status;
  const line = (name: string, text: string) => `${`${name}:`.padEnd(15)}${text}`;
  return [
    line('engine', engine),
    line('where', show(where, 300)),
    line('log', origin ?? 'not begun'),
    line('entries', String(size)),
    ...rightsLines(status.rights).map((text) => line('rights', text)),
    ...volumeLines(status).map(([name, text]) => line(name, text)),
    ...(root === undefined ? [] : [line('root', root)]),
    ...(movedTo === undefined
      ? []
      : [line('moved to', `${show(movedTo, 200)}: nothing is written here any more`)]),
    ...installations.map(({ installation, state, by, at }) =>
      line('installation', `${installation} ${STATES[state]} by ${show(by, 80)} at ${formatTime(at)} UTC`),
    ),
    ...(holders.length === 0
      ? [line('holders', 'none')]
      : holders.map((holder) => line('holder', show(holder, 300)))),
    ...places.map(({ name, newest }) => line('checkpoint', `${show(name, 200)}: ${show(newest, 200)}`)),
  ];
}

function rightsLines(rights: StoreRights | undefined): readonly string[] {
  if (rights === undefined) return [];
  const words = RIGHTS_WORDS[rights];
  return words === undefined ? ['reads and appends, and changes nothing'] : [words.found, words.hint];
}

/** Followed by the name and time of the first entry that names the key. */
const STATES = {
  first: 'first,',
  announced: 'announced',
  endorsed: 'endorsed; announced',
} as const satisfies Record<Installation['state'], string>;

export interface PlaceReached {
  readonly name: string;
  /** The size of its newest checkpoint of this log; undefined if it has none, or cannot be asked. */
  readonly size: number | undefined;
  readonly newest: string;
}

/** In each place; checks no signature, which `lifeboat audit verify` and `doctor` do. */
async function newestInPlaces(
  context: CommandContext,
  origin: string | undefined,
): Promise<readonly PlaceReached[]> {
  const { placesHere } = await import('../../compose/checkpoint-places.ts');
  const places = await placesHere(context);
  return Promise.all(
    places.map(async (place) => {
      const look = await place.look({ origin, beyond: Number.MAX_SAFE_INTEGER, most: 1 });
      if (look.result === 'down')
        return { name: place.name, size: undefined, newest: `cannot be read: ${look.why}` };
      if (look.result === 'write-only')
        return { name: place.name, size: undefined, newest: 'is only written to' };
      const size = look.notes[0]?.size;
      return { name: place.name, size, newest: size === undefined ? 'none' : `of ${size} entries` };
    }),
  );
}

/** A key store that signs, or once signed, for this store. */
export interface Installation {
  /** 16 hex digits derived from its key. */
  readonly installation: string;
  /** PEM. */
  readonly publicKey: string;
  /**
   * `first`: began the log; `endorsed`: by the first or one that it endorsed; `announced`: not trusted yet.
   */
  readonly state: 'first' | 'endorsed' | 'announced';
  readonly by: string;
  readonly at: string;
  /** Why it was endorsed. */
  readonly reason?: string;
}

/**
 * The installations that the entries of `store/log` name, in order of their first entry, as `by` sees them: a
 * PEM, or the key that the log began with. Pure; skips what cannot be read.
 */
export function installationsIn(
  entries: readonly Entry[],
  origin: string | undefined,
  by?: string,
): readonly Installation[] {
  const named = entries.flatMap((entry) => {
    const key = namedKey(entry);
    return key === undefined ? [] : [{ ...key, by: entry.by, at: entry.at }];
  });
  const first = named.filter(({ as }) => as === 'first').map(({ key }) => key);
  const believed = believedKeys(by === undefined ? first : parsePublicKeys(by), named, origin);
  return [...Map.groupBy(named, ({ installation }) => installation).values()].flatMap((mentions) => {
    const [one] = mentions;
    if (one === undefined) return [];
    const { key, installation, publicKey } = one;
    const isBelieved = believed.some((known) => known.equals(key));
    const reason = mentions.findLast((other) => other.reason !== undefined)?.reason;
    const isFirst = one.as === 'first' && by === undefined;
    const state = isFirst ? 'first' : isBelieved ? 'endorsed' : 'announced';
    const why = state === 'endorsed' && reason !== undefined ? { reason } : {};
    return [{ installation, publicKey, state, by: one.by, at: one.at, ...why }];
  });
}
