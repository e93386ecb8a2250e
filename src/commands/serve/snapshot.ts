import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { notWritten, writeNewFile } from '../../cli/write-new-file.ts';
import { type PageSources, renderRunAnswer, runTwinText, twinText } from '../../serve/app.ts';
import { renderBoard, renderDrills, renderEvaluation } from '../../serve/html/render-page.ts';
import type { Delivery } from '../../serve/html/shell.ts';
import type { JournalReader } from '../../store/journal.ts';
import { runToResume } from '../plans/find-plan-run.ts';

const FILE: Delivery = { how: 'file' };

interface Recorded {
  readonly sources: PageSources;
  readonly record: Pick<JournalReader, 'rows'>;
}

/**
 * Writes one page into a new file: HTML without a script, which stays as it is, or the JSON twin for a name
 * that ends in `.json`. The run of a page is named as for any command, such as `/runs/last`. Rejects with
 * `usage.page` for an address that no page has, as `runToResume` does, and as `notWritten` says.
 */
export async function writeSnapshot(
  { stderr }: Pick<CommandContext, 'stderr'>,
  recorded: Recorded,
  { file, page }: { readonly file: string; readonly page: string },
): Promise<void> {
  const made = await pageAt(recorded, page);
  if (made === undefined)
    throw new LifeboatError('usage.page', `there is no page ${show(page, 120)}`, {
      hints: ['pages are /, /evaluation, /drills, /runs/RUN and /runs/RUN/report', 'nothing was written'],
      exitCode: EXIT.usage,
    });
  const [html, json] = made;
  try {
    writeNewFile(file, /\.json$/iu.test(file) ? json() : html());
  } catch (cause) {
    throw notWritten(file, cause, 'name another place with --snapshot FILE');
  }
  stderr.write(`written: ${show(file, 200)}\n`);
}

type Made = readonly [html: () => string, json: () => string];

async function pageAt({ sources, record }: Recorded, path: string): Promise<Made | undefined> {
  if (path === '/') {
    const page = await sources.board();
    return [() => renderBoard(page, FILE), () => twinText('page-board', page)];
  }
  if (path === '/evaluation') {
    const page = await sources.evaluation();
    return [() => renderEvaluation(page, FILE), () => twinText('page-evaluation', page)];
  }
  if (path === '/drills') {
    const page = await sources.drills();
    return [() => renderDrills(page, FILE), () => twinText('page-drills', page)];
  }
  const [, word, report] = /^\/runs\/([0-9A-Za-z]+)(\/report)?$/u.exec(path) ?? [];
  if (word === undefined) return undefined;
  const { runId: id } = await runToResume(record, word);
  if (report !== undefined) {
    const found = await sources.report(id);
    return found && [() => found.html, () => found.json];
  }
  const found = await sources.run(id);
  if (found === undefined) return undefined;
  return [() => renderRunAnswer(found, FILE), () => runTwinText(found)];
}
