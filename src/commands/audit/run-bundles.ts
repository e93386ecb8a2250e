import { type BundleSource, makeBundle, makeLines, notesOfRuns } from '../../audit/bundle/make-bundle.ts';
import { transcriptOf } from '../../audit/transcript/transcript.ts';
import type { CommandContext } from '../../cli/context.ts';
import { homeFolder } from '../../config/find.ts';
import { fieldsOf, type JournalReader } from '../../store/journal.ts';
import type { Anchor } from '../../store/log/anchor.ts';
import type { Place } from '../../store/log/places/place.ts';
import type { Signer } from '../../store/log/signer.ts';
import { childrenOf } from '../../store/projections/plan-children.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import type { SecretGuard } from '../../store/secret-guard.ts';
import { bundleDocuments } from './bundle-documents.ts';

export interface Bundler {
  /** All evidence of a run, and of the runs that it started, in one tar. */
  tar(run: RunSummary): Promise<Buffer>;
  /** The journal of a run, as self-contained lines. */
  lines(run: RunSummary): Promise<string>;
}

interface BundlerOptions {
  readonly signer: Signer;
  readonly guard: SecretGuard;
  /** Each bundle shows the log at these. */
  readonly anchors: readonly Anchor[];
  /** Where checkpoints are; one that cannot be read has none, as the audit has said before. */
  readonly places: readonly Pick<Place, 'all'>[];
}

/** Which ledger cites which run is read once, for all tars. */
export function bundlerOf(
  context: CommandContext,
  journal: JournalReader,
  { signer, guard, anchors, places }: BundlerOptions,
): Bundler {
  let citing: ReturnType<typeof citingLedgers> | undefined;
  const home = homeFolder(context.env);
  const sourceOf = async (runId: string, children: readonly string[]): Promise<BundleSource> => ({
    ...{ journal, runId, signer, guard, anchors },
    notes: await notesOfRuns(journal, places, [runId, ...children]),
    ...{ madeAt: new Date(), madeBy: `lifeboat ${context.version}` },
  });
  const startedBy = async (runId: string) => (await childrenOf(journal, runId)).map((child) => child.runId);
  return {
    async tar(run) {
      const { runId } = run;
      const children = await startedBy(runId);
      citing ??= citingLedgers(journal);
      return makeBundle({
        ...(await sourceOf(runId, children)),
        children,
        instances: await ledgersOf(journal, run, children, await citing),
        documents: await bundleDocuments(context, journal, run, await journal.read(`run/${runId}`)),
        transcript: (one) => transcriptOf(home, one),
      });
    },
    lines: async ({ runId }) => makeLines(await sourceOf(runId, await startedBy(runId))),
  };
}

/** The instances of the run and of its children, and every other one whose ledger cites one of them. */
async function ledgersOf(
  journal: JournalReader,
  { runId, instance, target }: RunSummary,
  children: readonly string[],
  citing: ReadonlyMap<string, ReadonlySet<unknown>>,
): Promise<readonly string[]> {
  const touched: string[] = [];
  for (const child of children) {
    const [started] = await journal.read(`run/${child}`);
    const { instance: on, target: into } = fieldsOf(started?.body);
    touched.push(...[on, into].filter((name) => typeof name === 'string'));
  }
  const cited = [...citing].flatMap(([name, runs]) =>
    [runId, ...children].some((run) => runs.has(run)) ? [name] : [],
  );
  return [...new Set([instance, target ?? instance, ...touched, ...cited])];
}

async function citingLedgers(journal: JournalReader): Promise<ReadonlyMap<string, ReadonlySet<unknown>>> {
  const cited = new Map<string, ReadonlySet<unknown>>();
  for (const { stream } of await journal.streams('instance/')) {
    const runs = (await journal.read(stream)).map(({ body }) => fieldsOf(body)['run']);
    cited.set(stream.slice('instance/'.length), new Set(runs));
  }
  return cited;
}
