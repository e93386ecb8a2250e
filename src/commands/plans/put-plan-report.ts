import { join } from 'node:path';
import { makePrivateFolder } from '../../base/folders.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { notWritten, putNew, writeNewFile } from '../../cli/write-new-file.ts';
import type { Brand } from '../../report/brand.ts';
import { type ReportFormat, renderPlanReport, renderReport } from '../../report/render-report.ts';
import type { PlanReports } from './plan-report-of.ts';

interface Wish {
  readonly out: string | undefined;
  readonly format: ReportFormat;
  readonly brand: Brand;
}

/**
 * To stdout, or a new `.md`, `.html` or `.json` file. Any other name is a folder for the report, and those of
 * children, linked. Never overwrites a file (`usage.out`, exit 2).
 */
export async function putPlanReport(
  context: CommandContext,
  { plan, children }: PlanReports,
  { out, format, brand }: Wish,
): Promise<void> {
  if (out === undefined || /\.(?:md|html|json|ya?ml)$/iu.test(out)) {
    putNew(context, out, await inForm(plan, context, () => renderPlanReport(plan, format, brand)));
    return;
  }
  makePrivateFolder(out);
  const fileOf = (run: string) => (children.has(run) ? `${run}.${format}` : undefined);
  const files: (readonly [string, string])[] = [
    [`report.${format}`, renderPlanReport(plan, format, brand, fileOf)],
    ...[...children].map(
      ([run, report]) => [`${run}.${format}`, renderReport(report, format, brand)] as const,
    ),
  ];
  for (const [name, text] of files) {
    const path = join(out, name);
    try {
      writeNewFile(path, text);
    } catch (cause) {
      throw notWritten(path, cause);
    }
  }
  context.stderr.write(
    `written: ${show(join(out, `report.${format}`), 200)}, with ${children.size} of its runs\n`,
  );
}

async function inForm(
  value: object,
  { output }: Pick<CommandContext, 'output'>,
  rendered: () => string,
): Promise<string> {
  if (output !== 'yaml') return rendered();
  const { printableYaml } = await import('../../cli/printable-yaml.ts');
  return printableYaml(value);
}
