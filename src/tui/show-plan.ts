import type { Streams } from '../plain/terminal.ts';
import type { AppPort, OnScreen } from '../view/app/app-port.ts';
import type { PlanPort } from '../view/plan/plan-view.ts';
import type { Host } from './host.ts';
import { takeApp } from './show-run.ts';
import { takeScreen } from './take-screen.tsx';

/**
 * Shows the run of a plan on the whole terminal until a person leaves it (`takeScreen`), or closes the screen
 * of one that is over. By then everything under way is left, resumable. Gives whether the terminal is still
 * there to be written to; `connect` makes further screens available.
 */
export function showPlan(
  port: PlanPort,
  streams: Streams,
  connect: ((screen: OnScreen) => AppPort) | undefined,
): ReturnType<typeof takeScreen> {
  const options = { show: (host: Host) => host.showPlan(port) };
  return connect === undefined ? takeScreen(streams, options) : takeApp(streams, connect, options);
}
