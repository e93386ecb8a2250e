import type { DatabaseSync } from 'node:sqlite';
import { LOG_STREAM, type ProjectedRow } from '../journal.ts';
import { hearLog, type LogSays, NOTHING_SAID } from '../log/named-keys.ts';
import type { Signer } from '../log/signer.ts';
import type { Projection } from '../projections/projection.ts';
import {
  fitsClaim,
  isAbout,
  NO_ROWS,
  type RowSum,
  type RowsClaim,
  type StoredRow,
  VOUCHERS,
  vouchedIn,
  vouchFor,
} from '../vouched-rows.ts';
import type { Queries } from './queries.ts';
import type { Step } from './rows.ts';

/** The notes that vouch for the rows of the projections (vouched-rows.ts), stored among the rows. */
export function prepareVouchers(db: DatabaseSync, projections: readonly Projection[], signer?: Signer) {
  const find = db.prepare('SELECT value FROM rows WHERE projection = ? AND key = ?');
  const put = db.prepare('INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?)');
  const remove = db.prepare('DELETE FROM rows WHERE projection = ? AND key = ?');
  const kept = db.prepare(
    'SELECT key, grp AS "group", sort, value FROM rows WHERE projection = ? AND grp = ?',
  );
  const signed = projections.filter(({ vouched }) => vouched !== undefined);

  const anyClaim = ({ name }: Projection, { keys }: LogSays): RowsClaim | undefined => {
    const note = find.get(VOUCHERS, name)?.['value'];
    return typeof note === 'string' ? vouchedIn(note, [...keys.values()], signer) : undefined;
  };
  const claimOf = (projection: Projection, said: LogSays, size: number): RowsClaim | undefined => {
    const claim = anyClaim(projection, said);
    return isAbout(claim, { origin: said.origin, size, projection }) ? claim : undefined;
  };
  const keptRows = ({ name, vouched = [] }: Projection): readonly StoredRow[] =>
    vouched.flatMap((group) => kept.all(name, group) as unknown as StoredRow[]);

  return {
    /** The vouched sums of the rows at a size of the log; omits projections without a valid note. */
    sumsAt(said: LogSays, size: number): Map<Projection, RowSum> {
      const sums = signed.map((projection) => {
        return [projection, size === 0 ? NO_ROWS : claimOf(projection, said, size)] as const;
      });
      return new Map(sums.flatMap(([projection, sum]) => (sum === undefined ? [] : [[projection, sum]])));
    },

    /** Whether the rows are those signed at this point of the log. */
    areAt: (step: Step | undefined): boolean =>
      step === undefined ||
      step.after === 0 ||
      signed.every((projection) => {
        const claim = claimOf(projection, step.said, step.after);
        return claim !== undefined && fitsClaim(claim, projection, keptRows(projection));
      }),

    /** Signs the sums. A projection without a sum is no longer vouched for. */
    keep(sums: ReadonlyMap<Projection, RowSum>, step: Pick<Step, 'said' | 'after'> | undefined): void {
      for (const projection of signed) {
        const { name } = projection;
        const sum = sums.get(projection);
        const origin = step?.said.origin;
        if (sum === undefined || step === undefined || signer === undefined || origin === undefined)
          remove.run(VOUCHERS, name);
        else
          put.run(VOUCHERS, name, '', '', vouchFor({ ...sum, origin, projection, size: step.after }, signer));
      }
    },

    /** The rows of the signed groups; undefined if they are not what was signed. */
    rowsOf(projection: Projection, queries: Queries): readonly ProjectedRow[] | undefined {
      const claim = claimOf(projection, saidIn(queries), queries.newestHead()?.size ?? 0);
      const rows = keptRows(projection);
      if (claim === undefined || !fitsClaim(claim, projection, rows)) return undefined;
      return rows.map((row) => ({ ...row, value: JSON.parse(row.value) }));
    },

    /** Compares the rows with what was signed. */
    stateOf(
      projection: Projection,
      queries: Queries,
    ): 'as signed' | 'changed' | 'of another moment' | 'unsigned' {
      const said = saidIn(queries);
      const claim = anyClaim(projection, said);
      if (claim?.origin !== said.origin) return 'unsigned';
      if (!isAbout(claim, { origin: said.origin, size: queries.newestHead()?.size ?? 0, projection }))
        return 'of another moment';
      return fitsClaim(claim, projection, keptRows(projection)) ? 'as signed' : 'changed';
    },
  };
}

function saidIn(queries: Queries): LogSays {
  return hearLog(NOTHING_SAID, queries.read(LOG_STREAM));
}
