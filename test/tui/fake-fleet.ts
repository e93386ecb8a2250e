import { foldLedger } from '../../src/store/projections/ledgers.ts';
import type { Size } from '../../src/tui/bands.ts';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { lineWidth, textOf } from '../../src/tui/line.ts';
import type { AppEffect, LiveScreen } from '../../src/tui/live-screen.ts';
import type { OpenScreen } from '../../src/tui/module-screen.ts';
import type { Look } from '../../src/tui/span.ts';
import { rowOf } from '../../src/view/app/fleet-row.ts';
import type { Fact, Facts, Fleet, SourceName, Sources } from '../../src/view/app/sources.ts';
import { type InstanceFacts, nothingAsked, type Part } from '../../src/view/fleet/fleet-facts.ts';
import { instanceStatus } from '../../src/view/fleet/instance-status.ts';
import type { InstanceStatus } from '../../src/view/fleet/status-schema.ts';

export const NOW = new Date('2026-03-10T12:00:00Z');
const HOUR = 3_600_000;
const KEY = 'aaaaaaaaaaaa';

export const ago = (hours: number) => new Date(NOW.getTime() - hours * HOUR).toISOString();
export const part = <Value>(value: Value): Part<Value> => ({ state: 'known', at: NOW, value });
export const failedPart = (why: string): Part<never> => ({
  state: 'failed',
  at: NOW,
  code: 'service.timeout',
  why,
});

/** The journal of an instance of which a backup was proven ten hours ago, and that has a recovery card. */
const PREPARED = [
  { type: 'key.set', at: ago(50), body: { fingerprint: KEY, run: 'R', answer: 'accepted' } },
  {
    type: 'key.proven',
    at: ago(10),
    body: {
      ...{ fingerprint: KEY, run: 'R', verdict: 'readable', cipherSha256: '0', negative: 'refused' },
      backup: { id: 7, backup_id: 'guid-7', triggered_at: ago(10) },
    },
  },
  {
    type: 'card.prepared',
    at: ago(10),
    body: { card: { backupGuid: 'guid', fingerprint: KEY, preparedAt: ago(10), crossCheck: 'agrees' } },
  },
];

/** The same without the card. */
export function cardless(): InstanceFacts['record'] {
  return recordOf(PREPARED.slice(0, 2));
}

function recordOf(facts: readonly object[]): InstanceFacts['record'] {
  const ledger = foldLedger(facts.map((entry, at) => ({ seq: at + 1, ...entry })) as never);
  return part({ ledger, openRuns: [], inDoubt: [], followUps: [], store: {} });
}

/** An instance that could be recovered now, but for what is given. */
export function statusOf(name: string, given: Partial<InstanceFacts> = {}, now: Date = NOW): InstanceStatus {
  const objectives = { rto: HOUR, rpo: 4 * HOUR };
  return instanceStatus({ ...wellKnown(name), role: 'source', objectives, ...given }, now);
}

function wellKnown(name: string): InstanceFacts {
  return {
    ...nothingAsked({ name, role: 'source', objectives: {} }),
    overview: part({ state: 'provisioned' }),
    backups: part({
      done: [
        { id: 9, backupId: 'guid-9', triggeredAt: ago(2), size: 900, downloadable: true },
        { id: 7, backupId: 'guid-7', triggeredAt: ago(10), size: 700, downloadable: true },
      ],
      skewMs: 0,
    }),
    token: part({ kind: 'renewed' as const }),
    right: { state: 'missing' } as const,
    window: part({ start: ago(48), end: ago(0) }),
    disk: part({ name: 'postgresql.0.persistent', usedPercent: 41, threshold: 80, isOpen: false }),
    record: recordOf(PREPARED),
    held: part([KEY]),
    fits: part([{ id: 9, key: KEY, tried: 1 }]),
  };
}

/** One of which nothing was asked yet. */
export function unaskedOf(name: string, role: 'source' | 'target' = 'source'): InstanceStatus {
  return instanceStatus(nothingAsked({ name, role, objectives: {} }), NOW);
}

export function fleetOf(statuses: readonly InstanceStatus[], given: Partial<Fleet> = {}): Fleet {
  const answeredAt = new Map(statuses.map(({ name }) => [name, NOW]));
  const instances = statuses.map((status) => rowOf(status));
  return { instances, answered: statuses.length, drills: 'none', answeredAt, ...given };
}

/** An answer as it is known now. */
export function fact<Value>(value: Value, isAsking = false): Fact<Value> {
  return { part: part(value), isAsking, last: { at: NOW, value } };
}

/** Facts that never change, by source alone. */
export function factsOf(known: { readonly [Name in SourceName]?: Fact<Sources[Name]['value']> }): Facts {
  return { get: (source) => (known[source] ?? { part: { state: 'unasked' }, isAsking: false }) as never };
}

/** A screen over these facts, with what it did to the world. */
export function opened(open: OpenScreen, facts: Facts) {
  const effects: AppEffect[] = [];
  const screen = open({ facts, now: () => NOW, onEffect: (effect) => effects.push(effect) });
  return { screen, effects, at: (size: Size, look: Look = LOOK) => shownRows(screen, size, look) };
}

export const SIZE: Size = { columns: 80, rows: 24 };
export const SIZES: readonly Size[] = [
  { columns: 40, rows: 12 },
  SIZE,
  { columns: 100, rows: 30 },
  { columns: 119, rows: 16 },
  { columns: 120, rows: 24 },
  { columns: 160, rows: 50 },
];
export const LOOK: Look = { glyphs: glyphsFor({ LANG: 'C.UTF-8' }), colour: true };
export const ASCII: Look = { glyphs: glyphsFor({ LANG: 'C' }), colour: false };

/** The rows as texts. Throws where the layout is not exactly as large as the terminal. */
export function shownRows(screen: LiveScreen, { columns, rows }: Size, look: Look = LOOK): readonly string[] {
  const { bands } = screen.layOut({ columns, rows }, look);
  const found = bands.flatMap(({ height, panes }) => {
    const wide = panes.reduce((sum, { width }) => sum + width, 0);
    if (wide !== columns) throw new Error(`a band is ${wide} cells wide, the terminal ${columns}`);
    return Array.from({ length: height }, (_, row) =>
      panes
        .map((pane) => {
          const line = pane.lines[row] ?? [];
          const cells = lineWidth(line);
          if (pane.lines.length > pane.height || cells > pane.width)
            throw new Error(`too long: ${textOf(line)}`);
          return textOf(line) + ' '.repeat(pane.width - cells);
        })
        .join(''),
    );
  });
  if (found.length !== rows) throw new Error(`${found.length} rows are laid out, the terminal has ${rows}`);
  return found;
}

/** Presses keys one after the other; a single character types itself. */
export function press(screen: LiveScreen, ...keys: readonly string[]): void {
  for (const key of keys)
    screen.press({ kind: 'key', key, ...(key.length === 1 ? { text: key } : {}) }, SIZE);
}
