import { hostname } from 'node:os';
import writeFileAtomic from 'write-file-atomic';
import { errorCode, FILE_TROUBLE, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { DrillRecord } from '../../report/drill/drill-record.ts';
import { junitText } from './junit-text.ts';

/**
 * Writes a drill in the form of JUnit, whole or not at all, over what was there. Rejects with `output.file`.
 */
export async function writeJunit(path: string, record: DrillRecord): Promise<void> {
  try {
    await writeFileAtomic(path, junitText(record, hostname()), { mode: 0o644 });
  } catch (cause) {
    const code = errorCode(cause);
    const why = FILE_TROUBLE[code ?? ''] ?? code ?? 'the system does not say why';
    throw new LifeboatError('output.file', `${show(path, 200)} cannot be written: ${why}`, {
      hints: ['the drill is over, and its record stays in its folder', 'name another file with --junit FILE'],
      cause,
    });
  }
}
