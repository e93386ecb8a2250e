import type { Signer } from '../../src/store/log/signer.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { openSqliteForReading, openSqliteStore } from '../../src/store/sqlite/open.ts';
import { freshSigner } from './fresh-signer.ts';

/** The journal of a home as the product opens it: by `tester`, with its own key. */
export function openIn(
  home: string,
  options: { by?: string; signer?: Signer; now?: () => Date; afterLoss?: boolean } = {},
) {
  const { by = 'tester', signer = freshSigner(), ...rest } = options;
  return openSqliteStore({ home, by, signer, projections: PROJECTIONS, ...rest });
}

export function readIn(home: string) {
  return openSqliteForReading({ home, projections: PROJECTIONS });
}
