/** The ids of the runs that `lifeboat runs --json` lists. */
export function runIdsIn(stdout: string): string[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { readonly runId: string }).runId);
}
