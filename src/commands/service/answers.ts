import type { SendOutcome, ServiceClient } from '../../service/client.ts';

/** A client that remembers how the service answered the last change that it accepted. */
export interface Listening {
  readonly service: ServiceClient;
  /** The JSON as received, secrets blanked; undefined when nothing was accepted, or the answer was empty. */
  said(): unknown;
}

/** `-o json` prints the service's own fields, including those that no verb of a runbook needs. */
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
      createBackup: (leave) => hear(service.createBackup(leave)),
      restoreBackup: (id, leave) => hear(service.restoreBackup(id, leave)),
      changeBackupsConfig: (change, leave) => hear(service.changeBackupsConfig(change, leave)),
      prepareRecovery: (options, leave) => hear(service.prepareRecovery(options, leave)),
      performRecovery: (options, leave) => hear(service.performRecovery(options, leave)),
      recreate: (leave) => hear(service.recreate(leave)),
      restart: (leave) => hear(service.restart(leave)),
      update: (options, leave) => hear(service.update(options, leave)),
      changeUpdateSetting: (setting, leave) => hear(service.changeUpdateSetting(setting, leave)),
      restoreToTime: (targetTime, leave) => hear(service.restoreToTime(targetTime, leave)),
    },
  };
}
