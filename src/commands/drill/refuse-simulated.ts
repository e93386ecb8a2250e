import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { LoadedConfig } from '../../config/loaded.ts';

/**
 * Rejects with `drill.simulated` where the lab of the config says that it is simulated: who drills beside one
 * may take the evidence for one of its instances. A lab that does not answer is none.
 */
export async function refuseSimulated(config: LoadedConfig): Promise<void> {
  if (config.lab === undefined) return;
  const { labOf } = await import('../app/load-lab.ts');
  const { askLab, LabOverview } = await import('../../service/lab-client.ts');
  const look = { method: 'GET', path: '/lab' } as const;
  const lab = await askLab(await labOf(config), look, LabOverview).catch(() => undefined);
  if (lab?.simulated !== true) return;
  const what =
    'the lab of lifeboat.yaml is simulated: it restores nothing, so no drill beside it is evidence';
  throw new LifeboatError('drill.simulated', what, {
    hints: [
      'a drill makes a lab of its own, on real PostgreSQL: name another config with --config FILE or LIFEBOAT_CONFIG',
      'nothing was started',
    ],
    exitCode: EXIT.usage,
  });
}
