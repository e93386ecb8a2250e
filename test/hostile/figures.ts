import { appendFileSync } from 'node:fs';
import process from 'node:process';

/** What the figures are about: a line of the summary each. */
export type About = 'texts' | 'browser' | 'tars' | 'sizes' | 'patience' | 'secrets';

/**
 * The variable with the path of the file in which a run collects its figures. Without it nothing is written.
 */
export const FIGURES_FILE = 'LIFEBOAT_FIGURES';

/** Adds to the figures of the run, once something has been tried and was found as it should be. */
export function count(about: About, figures: Readonly<Record<string, number>>): void {
  const path = process.env[FIGURES_FILE];
  if (path !== undefined) appendFileSync(path, `${JSON.stringify({ about, figures })}\n`);
}

/** The sums, a line for each thing that was counted: `tars: 431 tried, 262 refused`. Pure. */
export function summary(lines: readonly string[]): string[] {
  const all = lines.map((line) => JSON.parse(line) as { about: About; figures: Record<string, number> });
  return [...Map.groupBy(all, ({ about }) => about)].map(([about, counted]) => {
    const sums = new Map<string, number>();
    for (const { figures } of counted)
      for (const [name, number] of Object.entries(figures)) sums.set(name, (sums.get(name) ?? 0) + number);
    const parts = [...sums].map(([name, sum]) => `${sum.toLocaleString('en')} ${name}`);
    return `${about}: ${parts.join(', ')}`;
  });
}
