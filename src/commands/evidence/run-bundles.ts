import { makeBundle, notesOfRuns } from '../../audit/bundle/make-bundle.ts';
import { transcriptOf } from '../../audit/transcript/transcript.ts';
import type { CommandContext } from '../../cli/context.ts';
import { placesHere } from '../../compose/checkpoint-places.ts';
import { homeFolder } from '../../config/find.ts';
import { fieldsOf, type JournalReader } from '../../store/journal.ts';
import type { Place, PlacedNote } from '../../store/log/places/place.ts';
import type { Signer } from '../../store/log/signer.ts';
import { childrenOf } from '../../store/projections/plan-children.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import type { SecretGuard } from '../../store/secret-guard.ts';
import { bundleDocuments } from '../audit/bundle-documents.ts';

/**
 * Makes the bundles of many runs of one record, as `lifeboat audit export` makes one. What all of them need,
 * which is the checkpoints and which ledger cites which run, is read once.
 */
export async function bundlerOf(
  context: CommandContext,
  journal: JournalReader,
  { signer, guard }: { readonly signer: Signer; readonly guard: SecretGuard },
): Promise<(run: RunSummary) => Promise<Buffer>> {
  const places = await readPlaces(context, (await journal.log.origin()) ?? '');
  const ledgersOf = await citingLedgers(journal);
  const home = homeFolder(context.env);
  return async (run) => {
    const { runId } = run;
    const touched = [run.instance, run.target ?? run.instance];
    const children = (await childrenOf(journal, runId)).map((child) => child.runId);
    const all = [runId, ...children];
    for (const child of children) {
      const { instance, target = instance } = fieldsOf((await journal.read(`run/${child}`))[0]?.body);
      for (const name of [instance, target]) if (typeof name === 'string') touched.push(name);
    }
    return makeBundle({
      ...{ journal, runId, signer, guard, children, anchors: [] },
      ...{ madeAt: new Date(), madeBy: `lifeboat ${context.version}` },
      notes: await notesOfRuns(journal, places, all),
      instances: [...new Set([...touched, ...all.flatMap((one) => [...(ledgersOf.get(one) ?? [])])])],
      documents: await bundleDocuments(context, journal, run, await journal.read(`run/${runId}`)),
      transcript: (one) => transcriptOf(home, one),
    });
  };
}

/** Every checkpoint of each place; a place that cannot be read has none, as the audit has said before. */
async function readPlaces(context: CommandContext, origin: string): Promise<readonly Pick<Place, 'all'>[]> {
  const read: Pick<Place, 'all'>[] = [];
  for (const place of await placesHere(context)) {
    const notes: PlacedNote[] = [];
    try {
      for await (const note of place.all(origin)) notes.push(note);
    } catch {}
    read.push({
      async *all() {
        yield* notes;
      },
    });
  }
  return read;
}

/** The ledgers that cite each run. */
async function citingLedgers(journal: JournalReader): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const ledgers = new Map<string, Set<string>>();
  const add = (run: unknown, name: unknown) => {
    if (typeof run !== 'string' || typeof name !== 'string') return;
    ledgers.set(run, (ledgers.get(run) ?? new Set()).add(name));
  };
  for (const { stream } of await journal.streams('instance/'))
    for (const { body } of await journal.read(stream))
      add(fieldsOf(body)['run'], stream.slice('instance/'.length));
  return ledgers;
}
