import type { AuditReport } from '../../src/audit/audit.ts';
import { auditStore } from '../../src/commands/audit/audit-store.ts';
import { openReaderOf } from '../../src/compose/store-of.ts';
import { LOG_STREAM } from '../../src/store/journal.ts';
import { LogBegun } from '../../src/store/log/log-entries.ts';

/** The audit of a home under the key that its log began with, which spares opening the key store. */
export async function auditOf(env: NodeJS.ProcessEnv): Promise<AuditReport> {
  const reader = await openReaderOf({ env });
  const [begun] = await reader.read(LOG_STREAM).finally(() => reader.close());
  const { publicKey } = LogBegun.parse(begun?.body);
  return auditStore({ env, configPath: undefined }, { publicKey });
}
