import writeFileAtomic from 'write-file-atomic';
import { errorCode, FILE_TROUBLE, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { metricsText } from './metrics-text.ts';
import type { FleetReport } from './print-status.ts';

/**
 * Writes what was found for the textfile collector of Prometheus' node exporter: whole or not at all, so that
 * the collector never reads half of it. Everybody may read the file, because the exporter is another user; it
 * holds names and numbers and no secret. Rejects with `output.file`.
 */
export async function writeMetrics(path: string, report: FleetReport): Promise<void> {
  try {
    await writeFileAtomic(path, metricsText(report), { mode: 0o644 });
  } catch (cause) {
    const why = FILE_TROUBLE[errorCode(cause) ?? ''] ?? errorCode(cause) ?? 'the system does not say why';
    throw new LifeboatError('output.file', `${show(path, 200)} cannot be written: ${why}`, {
      hints: ['the metrics that were there before stay', 'name another file with --prometheus FILE'],
      cause,
    });
  }
}
