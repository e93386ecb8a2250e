import fc from 'fast-check';
import { byteTampering, openVictim, rowTampering, type Verdict } from './tampering.ts';

export type Verdicts = Readonly<Record<Verdict, number>>;

export interface TamperingFigures {
  /** By what was tampered with. */
  readonly verdicts: Readonly<Record<'database bytes' | 'rows' | 'checkpoints', Verdicts>>;
  /** Each tampering that nobody would have found. */
  readonly missed: readonly string[];
}

/** Tampers `count` times with each part of a sealed home, as the seed says. `notes`: its checkpoints, as paths below the home. */
export async function sweepTamperings(
  victim: { readonly home: string; readonly publicKey: string; readonly notes: readonly string[] },
  options: { readonly count: number; readonly seed: number },
): Promise<TamperingFigures> {
  const { bytes, rows, exchange } = await openVictim(victim.home, victim.publicKey);
  const missed: string[] = [];
  const draw = { numRuns: options.count, seed: options.seed };
  const judge = async <T>(
    what: string,
    tamperings: readonly T[],
    tamper: (tampering: T) => Promise<Verdict>,
  ) => {
    const verdicts: Record<Verdict, number> = { found: 0, harmless: 0, told: 0, missed: 0 };
    for (const tampering of tamperings) {
      const verdict = await tamper(tampering);
      verdicts[verdict] += 1;
      if (verdict === 'missed') missed.push(`${what}: ${fc.stringify(tampering)}`);
    }
    return verdicts;
  };
  const note = fc.constantFrom(...victim.notes);
  const onNotes = fc.oneof(
    { weight: 9, arbitrary: fc.record({ file: note, tampering: byteTampering }) },
    { weight: 1, arbitrary: fc.record({ file: note, other: note }) },
  );
  return {
    verdicts: {
      'database bytes': await judge('bytes', fc.sample(byteTampering, draw), (one) =>
        bytes('lifeboat.db', one),
      ),
      rows: await judge('rows', fc.sample(rowTampering, draw), rows),
      checkpoints: await judge('checkpoints', fc.sample(onNotes, draw), (one) =>
        'tampering' in one ? bytes(one.file, one.tampering) : exchange(one.file, one.other),
      ),
    },
    missed,
  };
}
