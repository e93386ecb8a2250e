import { existsSync } from 'node:fs';
import { BY_HAND } from '../../audit/bundle/documents.ts';
import { VERDICT_EXIT } from '../../audit/verdict.ts';
import { failureOf } from '../../base/errors.ts';
import { counted } from '../../base/format.ts';
import { ownFile } from '../../base/own-program.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult } from '../../cli/print-result.ts';
import { isTaken } from '../../cli/write-new-file.ts';
import { openJournalIfAny, openReaderOf } from '../../compose/store-of.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { evidenceHtml, evidenceJson } from '../../evidence/evidence-pages.ts';
import { daysOf, periodOf, type Span } from '../../evidence/period.ts';
import { readmeOf } from '../../evidence/readme.ts';
import type { Brand } from '../../report/brand.ts';
import type { Signer } from '../../store/log/signer.ts';
import { createSecretGuard } from '../../store/secret-guard.ts';
import { guardSecrets, signerOf, signingKeys } from '../audit/signing.ts';
import { knownDrills } from '../drill/drill-records.ts';
import { brandOf } from '../run/run-report.ts';
import { type Gathered, gatherEvidence } from './gather-evidence.ts';
import { ELSEWHERE, openPack, type Pack } from './pack.ts';
import { scopeOf } from './scope.ts';

interface EvidenceFlags {
  readonly from?: string;
  readonly to?: string;
  readonly instance?: readonly string[];
  readonly plan?: readonly string[];
  readonly out?: string;
  readonly receipts?: boolean;
}

/**
 * `lifeboat evidence [--from DAY] [--to DAY] [-i NAME]... [--plan NAME]...`: a new folder or tar for an
 * auditor: drills, runs, evaluations, findings and waivers of a period in one signed bundle, and gaps against
 * the config's periods. Sends nothing. Exit as `lifeboat audit verify`: 0 intact, 3 not wholly pinned, 1 not
 * intact, which heads the pack and is not signed; 2 for an invalid period or place, with nothing written. A
 * process that dies inside leaves nothing under the pack's name.
 */
export const evidence: Action<EvidenceFlags> = async (context, _, flags) => {
  const now = new Date();
  const span = periodOf(flags, now);
  const { first, last } = daysOf(span);
  const out = flags.out ?? `lifeboat-evidence-${first}-${last}`;
  if (existsSync(out)) throw isTaken(out, ELSEWHERE);
  const config = await configIfAny(context);
  const drills = knownDrills(context.env);
  const journal = drills.length === 0 ? await openReaderOf(context) : await openJournalIfAny(context);
  try {
    const scope = await scopeOf(config, journal, flags);
    const guard = createSecretGuard();
    const keyring = journal === undefined ? undefined : await signingKeys(context, 'the pack is');
    await guardSecrets(guard, context, config, keyring);
    const signer = await signerOf(keyring);
    const pack = openPack(out, guard);
    try {
      const brand = await brandOf(context);
      const source = { pack, context, config, journal, scope, span, now, signer, brand, drills };
      const gathered = await gatherEvidence({ ...source, makesReceipts: flags.receipts === true });
      return await finished(context, { ...gathered, pack, out, span, signer, brand });
    } finally {
      pack.drop();
    }
  } finally {
    await journal?.close();
  }
};

/** Without a config, the journal names the instances, and no period is asked for. */
async function configIfAny(context: CommandContext): Promise<LoadedConfig | undefined> {
  return await loadConfig(context.env, context.configPath).catch((thrown: unknown) => {
    if (failureOf(thrown).code === 'config.missing') return undefined;
    throw thrown;
  });
}

interface Whole extends Gathered {
  readonly pack: Pack;
  readonly out: string;
  readonly span: Span;
  readonly signer: Signer;
  readonly brand: Brand;
}

async function finished(context: CommandContext, whole: Whole): Promise<number> {
  const { pack, out, index, sign, span, signer, brand } = whole;
  const { runs, drills, missing, record } = index;
  pack.put('index.html', evidenceHtml(index, brand));
  pack.put('index.json', evidenceJson(index));
  const hasReceipts = runs.some(({ receipt }) => receipt !== undefined);
  const byHand = sign === undefined ? undefined : BY_HAND;
  pack.put('README.txt', readmeOf(span, { hasReceipts, byHand }));
  pack.put('verify.mjs', ownFile('src/audit/bundle/verify.mjs'));
  // A signed part has the key already.
  if (sign === undefined) pack.put('lifeboat.pub', signer.publicKey);
  pack.seal(sign);
  const size = pack.finish();
  const isBroken = drills.some(({ verdict }) => verdict === 'not-intact');
  const verdict = isBroken ? 'not-intact' : record.verdict;
  const uncovered = missing.filter(({ waiver }) => waiver?.covers !== 'all').length;
  const counts = { runs: runs.length, drills: drills.length, missing: uncovered };
  await printResult(context, 'evidence-pack', { path: out, verdict, ...counts, ...size }, () => {
    context.stdout.write(`${show(out, 300)}\n`);
    context.stderr.write(
      `${counted(counts.runs, 'run')}, ${counted(counts.drills, 'drill')}, ` +
        `${counted(uncovered, 'gap')} without a waiver; record: ${show(record.words, 300)}\n`,
    );
  });
  return VERDICT_EXIT[verdict];
}
