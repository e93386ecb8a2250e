import type { InstanceData } from './data/instance-data.ts';

/** Actions on an instance's process, not its data (endpoints 13 to 15 of service-api.md). */
export type UpkeepAction = 'restart' | 'recreate' | 'update';

export interface AvailableUpdate {
  readonly name: string;
  readonly type: string;
  readonly version: string;
}

/** Whether the instance may be updated (section 2.5), by the lab's own maintenance or on request. */
export interface UpdateSetting {
  readonly type: string;
  readonly allowed: boolean;
}

interface UpkeepParts {
  readonly data: Pick<InstanceData, 'stop' | 'start'>;
  /** While the instance is lost or deleted, nothing may start its server. */
  readonly isGone: () => boolean;
  /** Called when an action has ended, successfully or not. */
  readonly ended: () => void;
  readonly log: (line: string) => void;
}

/** Restarts, recreations and updates of one instance, one at a time and in order. */
export class Upkeep {
  readonly #parts: UpkeepParts;
  #underWay: readonly UpkeepAction[] = [];
  #last: Promise<void> = Promise.resolve();
  #updates: readonly AvailableUpdate[] = PENDING;
  setting: UpdateSetting = { type: 'general', allowed: true };

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  /** Pending maintenance updates. */
  get updates(): readonly AvailableUpdate[] {
    return this.#updates;
  }

  get isBusy(): boolean {
    return this.#underWay.length > 0;
  }

  isDoing(action: UpkeepAction): boolean {
    return this.#underWay.includes(action);
  }

  /** Begins an action, which ends when a new process accepts connections. */
  begin(action: UpkeepAction): void {
    this.#underWay = [...this.#underWay, action];
    this.#last = this.#last.then(() => this.#replaceProcess(action));
  }

  async #replaceProcess(action: UpkeepAction): Promise<void> {
    const { data, isGone, ended, log } = this.#parts;
    try {
      await data.stop();
      if (isGone()) throw new Error('the instance is gone');
      await data.start();
      if (action === 'update') this.#updates = [];
    } catch (error) {
      log(`${action} failed: ${String(error)}`);
    } finally {
      const at = this.#underWay.indexOf(action);
      this.#underWay = this.#underWay.toSpliced(at, 1);
      ended();
    }
  }
}

/** The updates that a new instance lacks. */
const PENDING: readonly AvailableUpdate[] = [
  { name: 'postgresql', type: 'release', version: '18.4.1' },
  { name: 'stemcell', type: 'stemcell', version: '1.785' },
];
