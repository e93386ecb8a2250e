import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from '../../base/folders.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { type Content, isTaken, notWritten, putNew, writeNewFile } from '../../cli/write-new-file.ts';
import type { Brand } from '../../report/brand.ts';
import { planReportParts, type ReportFormat, renderReport } from '../../report/render-report.ts';
import type { PlanReports, TakeChild } from './plan-report-of.ts';

interface Wish {
  readonly out: string | undefined;
  readonly format: ReportFormat;
  readonly brand: Brand;
}

/** Writes the reports of a plan's run and of the runs that it started. */
export interface PlanReportFiles {
  /** Writes the report of a run beside that of the plan, if there is a folder for it. */
  readonly take: TakeChild;
  /** At last that of the plan: where it is, the others are. */
  put(reports: PlanReports): Promise<void>;
}

/**
 * To stdout, or a new `.md`, `.html` or `.json` file. Any other name is a folder for the report, and those of
 * children, linked. Never overwrites a file (`usage.out`, exit 2).
 */
export function planReportFiles(context: CommandContext, { out, format, brand }: Wish): PlanReportFiles {
  if (out === undefined || /\.(?:md|html|json|ya?ml)$/iu.test(out))
    return {
      take: () => undefined,
      async put({ plan }) {
        putNew(context, out, await inForm(plan, context, () => planReportParts(plan, format, brand)));
      },
    };
  const own = join(out, `report.${format}`);
  const fileOf = (run: string) => `${run}.${format}`;
  const write = (path: string, content: Content) => {
    try {
      writeNewFile(path, content);
    } catch (cause) {
      throw notWritten(path, cause);
    }
  };
  return {
    take(run, report) {
      if (existsSync(own)) throw isTaken(own);
      makePrivateFolder(out);
      write(join(out, fileOf(run)), renderReport(report, format, brand));
    },
    async put({ plan, children }) {
      makePrivateFolder(out);
      const linked = (run: string) => (children.has(run) ? fileOf(run) : undefined);
      write(own, () => planReportParts(plan, format, brand, linked));
      context.stderr.write(`written: ${show(own, 200)}, with ${children.size} of its runs\n`);
    },
  };
}

async function inForm(
  value: object,
  { output }: Pick<CommandContext, 'output'>,
  rendered: () => Iterable<string>,
): Promise<string | (() => Iterable<string>)> {
  if (output !== 'yaml') return rendered;
  const { printableYaml } = await import('../../cli/printable-yaml.ts');
  return printableYaml(value);
}
