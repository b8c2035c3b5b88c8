import type { Channel, FromWorker, ToWorker } from './messages.ts';

/** A worker's end of the channel to the supervisor. Node ends the process when the supervisor is gone. */
export const processChannel: Channel<FromWorker, ToWorker> & { sent(message: FromWorker): Promise<void> } = {
  send: (message) => void process.send?.(message, undefined, undefined, () => undefined),
  /** Resolves when the message has left this process. */
  sent: (message) => new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve())),
  hear: (heard) => process.on('message', heard),
};
