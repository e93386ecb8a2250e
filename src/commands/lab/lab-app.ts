/**
 * `lifeboat lab-app FILE`: the sample application of a lab, which a single executable starts as a process of
 * its own. FILE has its settings. It runs until it is ended.
 */
export async function labApp(): Promise<never> {
  await import('../../lab/cloud-foundry/sample-app.ts');
  return await new Promise<never>(() => undefined);
}
