import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { AuditReport } from '../../src/audit/audit.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { checkLog } from '../../src/store/log/check-log.ts';
import { folderPlace, homePlace } from '../../src/store/log/places/folder-place.ts';
import { compareProjections, PROJECTIONS } from '../../src/store/projected.ts';
import { openSqliteForReading } from '../../src/store/sqlite/open.ts';
import { forge, originIn, type Row, rowsOf } from './forge.ts';
import { auditHome } from './sealed-journal.ts';
import type { Victim } from './sealed-victim.ts';
import { checkpointsIn, placesOf, rowsAfter, tamper } from './tamper.ts';
import { tampering } from './tampering.ts';
import {
  type Cell,
  type Expected,
  expected,
  OBSERVERS,
  type Observer,
  type Scene,
} from './tampering-table.ts';

export interface TamperingFigures {
  readonly cases: number;
  /** How many each observer found, as the table says. */
  readonly found: Readonly<Record<Observer, number>>;
  /** How many, by the table, are not found, or change nothing that is evidence. */
  readonly nobody: number;
  /** Each tampering that an observer missed although the table lists it. */
  readonly missed: readonly string[];
}

/** Independent of another tampering: none of these hides one, or is hidden by it. */
const beside = tampering.filter(({ on }) => on === 'keys' || on === 'rows');

/** Tampers `count` times with a victim, by the seed, and asks every possible observer. */
export async function sweepTamperings(
  victim: Victim,
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<TamperingFigures> {
  const scene = await sceneOf(victim);
  const found: Record<Observer, number> = { key: 0, none: 0, anchor: 0, guard: 0 };
  const missed: string[] = [];
  let nobody = 0;
  const cases = fc.sample(fc.tuple(tampering, fc.option(beside)), { numRuns: count, seed });
  for (const [one, other] of cases) {
    const [first, second] = [one, other].map(
      (each) => each && expected(scene, each, (entries) => rowsAfter(scene.rows, entries, scene.origin)),
    );
    tamper(victim, one);
    // An earlier home has other rows and keys, and missing rows may fit entries that exist.
    const isOther =
      one.on === 'home' || ((one.on === 'entries' || one.on === 'database') && other?.on === 'rows');
    const both = other !== null && one.on !== other.on && !isOther;
    if (both) tamper(victim, other);
    const cells = [first, both ? second : undefined].filter((cell) => cell != null);
    const seen = await look(
      victim,
      cells.some(({ rows }) => rows === true),
    );
    const wrong = OBSERVERS.flatMap((observer) => misses(observer, cells, seen[observer]));
    if (cells.some(({ rows }) => rows === true) && !seen.rows) wrong.push('rows: nothing was found');
    if (wrong.length === 0 && first !== undefined && first !== null)
      wrong.push(...wrongPins(victim, cells, first, seen.report));
    for (const observer of OBSERVERS)
      if (cells.some((cell) => isFinding(cell[observer]))) found[observer] += 1;
    if (!OBSERVERS.some((observer) => cells.some((cell) => isFinding(cell[observer])))) nobody += 1;
    if (wrong.length > 0) missed.push(`${fc.stringify([one, other])}: ${wrong.join('; ')}`);
    victim.restore();
  }
  return { cases: cases.length, found, nobody, missed };
}

type Seen = Readonly<Record<Observer, readonly string[]>> & {
  readonly report: AuditReport;
  readonly rows: boolean;
};

async function look(victim: Victim, deep: boolean): Promise<Seen> {
  const { home, folder, signer, anchor } = victim;
  const at = { home, folders: [folder] };
  const report = await auditHome(at, { storedKey: signer.publicKey });
  const none = await auditHome(at, { anchors: [anchor] });
  const [anchored, rest] = [codes(none).filter(isOfAnchor), codes(none).filter((code) => !isOfAnchor(code))];
  return {
    key: codes(report),
    none: rest,
    anchor: anchored,
    guard: await guard(victim),
    report,
    rows: deep && (await differs(victim)),
  };
}

function codes({ findings }: AuditReport): readonly string[] {
  return findings.filter(({ severity }) => severity === 'problem').map(({ code }) => code);
}

function isOfAnchor(code: string): boolean {
  return code.startsWith('anchor.');
}

/** What stops a writer from opening the store. An unreadable store stops him, too. */
async function guard({ home, folder, signer }: Victim): Promise<readonly string[]> {
  const reader = await openSqliteForReading({ home, projections: PROJECTIONS });
  try {
    const places = [homePlace(home), folderPlace(folder)];
    const { trouble } = await checkLog(reader, places, { ownKey: signer.publicKey });
    return trouble?.kinds ?? [];
  } catch (thrown) {
    if (thrown instanceof LifeboatError) return ['refused'];
    throw thrown;
  } finally {
    await reader.close();
  }
}

async function differs({ home }: Victim): Promise<boolean> {
  const reader = await openSqliteForReading({ home, projections: PROJECTIONS });
  try {
    return (await compareProjections(reader, PROJECTIONS)).length > 0;
  } catch {
    // Damaged entries cannot be folded, so they count as found.
    return true;
  } finally {
    await reader.close();
  }
}

function isFinding({ all = [], any = [] }: Cell): boolean {
  return all.length + any.length > 0;
}

/** What an observer missed, or found although there is nothing. */
function misses(observer: Observer, cells: readonly Expected[], seen: readonly string[]): string[] {
  const wanted = cells.map((cell) => cell[observer]);
  // The check at opening reads as little as possible: beyond the table it may or may not find more.
  if (observer === 'guard' && (seen.includes('refused') || !wanted.some(isFinding))) return [];
  const lacking = wanted.flatMap(({ all = [], any }) => [
    ...all.filter((code) => !seen.includes(code)),
    ...(any === undefined || any.some((code) => seen.includes(code)) ? [] : [any.join('|')]),
  ]);
  if (lacking.length > 0)
    return [`${observer}: ${lacking.join(', ')} not found, only ${seen.join(', ') || 'nothing'}`];
  return wanted.some(isFinding) || seen.length === 0
    ? []
    : [`${observer}: found ${seen.join(', ')}, and there is nothing`];
}

/** If nothing is wrong, the verdict holds up to the remaining checkpoints, and says so. */
function wrongPins(
  victim: Victim,
  cells: readonly Expected[],
  { pins, isLate }: Expected,
  report: AuditReport,
): string[] {
  if (cells.some(({ key }) => isFinding(key))) return [];
  const found = placesOf(victim).map((place) => report.pins.find((pin) => pin.place === place)?.size ?? 0);
  const verdict = pins.every((size) => size > 0) && !isLate ? 'intact' : 'consistent';
  return [
    ...(isDeepStrictEqual(found, [...pins])
      ? []
      : [`pins: ${found.join(', ')} instead of ${pins.join(', ')}`]),
    ...(report.verdict === verdict ? [] : [`verdict: ${report.verdict} instead of ${verdict}`]),
  ];
}

async function sceneOf(victim: Victim): Promise<Scene & { readonly origin: string }> {
  let rows: readonly Row[] = [];
  let origin = '';
  forge(victim.home, (db) => {
    rows = rowsOf(db);
    origin = originIn(db);
  });
  const about = async (home: string) => {
    const reader = await openSqliteForReading({ home, projections: PROJECTIONS });
    try {
      return { vouched: await reader.log.vouched(), size: (await reader.log.head()).size };
    } finally {
      await reader.close();
    }
  };
  const [home, copies] = placesOf(victim).map((place) => checkpointsIn(place).map(({ size }) => size));
  const [earlier] = placesOf({ ...victim, home: victim.yesterday }).map((place) =>
    checkpointsIn(place).map(({ size }) => size),
  );
  const { vouched } = await about(victim.home);
  const scene = { rows, origin, home: home ?? [], copies: copies ?? [], vouched };
  const before = { ...(await about(victim.yesterday)), home: earlier ?? [] };
  victim.restore();
  return { ...scene, yesterday: before };
}
