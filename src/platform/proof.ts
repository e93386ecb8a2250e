import type { PlatformProof } from '../../machines/parts/recovery-data.ts';

/** A proof; facts that are not known are left out. */
export function proof(
  outcome: PlatformProof['outcome'],
  text: string,
  at: string | null | undefined,
  evidence: Readonly<Record<string, PlatformProof['evidence'][string] | undefined>>,
): PlatformProof {
  const known = Object.entries(evidence).filter(
    (entry): entry is [string, PlatformProof['evidence'][string]] => entry[1] !== undefined,
  );
  return { outcome, text, ...(at == null ? {} : { at }), evidence: Object.fromEntries(known) };
}
