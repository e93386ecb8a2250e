import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { z } from 'zod';
import type { Server } from '../engine/engine.ts';
import type { BaseBackupFacts } from './instance-data.ts';

/** A base backup, and the facts about it; `facts` rejects when the content was not read to its end. */
export function describedBackup(
  server: Server,
  label: string,
): { readonly content: Readable; facts(): Promise<BaseBackupFacts> } {
  const startedAt = new Date();
  const { content, manifest } = server.baseBackup(label);
  let stoppedAt = startedAt;
  // The next millisecond: what the backup holds was committed before, and a date would be rounded down.
  content.once('end', () => {
    stoppedAt = new Date(Date.now() + 1);
  });
  return {
    content,
    facts: async () => {
      await finished(content, { writable: false });
      return factsOf(manifest(), startedAt, stoppedAt);
    },
  };
}

/** The label that a base backup was taken under; undefined when its label file has none. */
export async function labelOf(data: string): Promise<string | undefined> {
  const text = await readFile(join(data, 'backup_label'), 'utf8').catch(() => '');
  return /^LABEL: (.*)$/mu.exec(text)?.[1];
}

const Manifest = z.object({
  'WAL-Ranges': z.tuple([z.object({ Timeline: z.int(), 'Start-LSN': z.string(), 'End-LSN': z.string() })]),
});

/** A running server stays on one timeline, so its backup has one range. */
function factsOf(manifest: string, startedAt: Date, stoppedAt: Date): BaseBackupFacts {
  const [range] = Manifest.parse(JSON.parse(manifest))['WAL-Ranges'];
  const { Timeline: timeline, 'Start-LSN': startLsn, 'End-LSN': endLsn } = range;
  // The identifier has 64 bits, more than a JavaScript number holds: it is cut out of the text.
  const system = /"System-Identifier": (?<id>\d+)/u.exec(manifest)?.groups?.['id'] ?? null;
  return {
    manifest: { system_identifier: system, timeline, start_lsn: startLsn, end_lsn: endLsn },
    timeline,
    startLsn,
    endLsn,
    startedAt,
    stoppedAt,
  };
}
