import type { SendOutcome, ServiceClient } from '../../service/client.ts';

/** A client that remembers what the service said to the last change that it took. */
export interface Listening {
  readonly service: ServiceClient;
  /** JSON as it came, secrets blanked; undefined when nothing was taken, or nothing was said. */
  said(): unknown;
}

/** `--json` gives the service's own fields, also those that no verb of a runbook needs. */
export function listenTo(service: ServiceClient): Listening {
  let last: unknown;
  const hear = <T>(sending: Promise<SendOutcome<T>>) =>
    sending.then((outcome) => {
      if (outcome.outcome === 'accepted') last = outcome.raw;
      return outcome;
    });
  return {
    said: () => last,
    service: {
      ...service,
      createBackup: (signal) => hear(service.createBackup(signal)),
      restoreBackup: (id, signal) => hear(service.restoreBackup(id, signal)),
      changeBackupsConfig: (change, signal) => hear(service.changeBackupsConfig(change, signal)),
      prepareRecovery: (options, signal) => hear(service.prepareRecovery(options, signal)),
      performRecovery: (options, signal) => hear(service.performRecovery(options, signal)),
      recreate: (signal) => hear(service.recreate(signal)),
      restart: (signal) => hear(service.restart(signal)),
      update: (options, signal) => hear(service.update(options, signal)),
      changeUpdateSetting: (setting, signal) => hear(service.changeUpdateSetting(setting, signal)),
      restoreToTime: (targetTime, signal) => hear(service.restoreToTime(targetTime, signal)),
    },
  };
}
