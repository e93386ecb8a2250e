import type { ScreenRequest } from '../live-screen.ts';
import type { OpenScreen } from '../module-screen.ts';

/** Loads the screen for a request: each screen imports only what it needs. */
export async function loadScreen(request: ScreenRequest): Promise<OpenScreen> {
  switch (request.name) {
    case 'board':
      return (await import('./board/board.ts')).boardScreen();
    case 'start':
      return (await import('./start/start.ts')).startScreen(request);
    case 'runs':
      return (await import('./runs/runs.ts')).runsScreen();
    case 'followups':
      return (await import('./followups/followups.ts')).followUpsScreen();
    case 'each':
      return (await import('./each/each.ts')).eachScreen(request);
    case 'watch':
      return (await import('./watch/watch.ts')).watchScreen(request);
    case 'instance':
      return (await import('./instance/instance.ts')).instanceScreen(request);
    case 'keys':
      return (await import('./keys/keys.ts')).keysScreen(request);
    case 'journal':
      return (await import('./journal/journal.ts')).journalScreen(request);
    case 'report':
      return (await import('./report/report.ts')).reportScreen(request);
    case 'lab':
      return (await import('./lab/lab.ts')).labScreen();
  }
}

/** Loads the screen of the run of a plan: who conducts it shows it, and it is never opened by name. */
export function loadPlanScreen() {
  return import('./plan/plan-screen.ts');
}
