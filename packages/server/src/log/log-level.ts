export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** One line a message (`standard`), or one JSON object a line. */
export type LogFormat = 'standard' | 'json';
