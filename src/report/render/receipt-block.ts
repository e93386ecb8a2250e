import { cosignLines, opensslLines, REPORT_FILE, TEST_RESULT } from '../../base/receipt-files.ts';
import type { Report } from '../model/model.ts';
import type { Block } from './document.ts';

/**
 * How to check a run's receipt without this program, in its folder. Empty for a run without a receipt: one
 * that is open, or proves nothing by its kind.
 */
export function receiptBlocks(
  run: string,
  { status, proven }: Pick<Report['outcome'], 'status' | 'proven'>,
): readonly Block[] {
  if (status === 'open' || (status === 'closed' && proven === undefined)) return [];
  const caption = `Checked without Lifeboat, in the folder that is written by lifeboat receipt ${run}`;
  const lines = [...opensslLines(REPORT_FILE), ...cosignLines(TEST_RESULT, REPORT_FILE)];
  return [{ kind: 'lines', caption, lines }];
}
