import { VERSION } from '@strongroom/core';
import type { Log } from '@strongroom/engine-sdk';
import type { OtlpTracing } from '@strongroom/tracing';
import type { TracingChoice } from '../config/tracing-section.ts';
import { isMissing } from '../plugins/plugin-list.ts';

/** Loads the optional package that sends traces. Undefined where none are wanted; without the package, a warning says how to install it. */
export async function openTracing(choice: TracingChoice | undefined, log: Log): Promise<OtlpTracing | undefined> {
  if (!choice) return undefined;
  try {
    const { openOtlpTracing } = await import('@strongroom/tracing');
    return openOtlpTracing({ ...choice, serviceVersion: VERSION, log });
  } catch (error) {
    if (!isMissing(error, '@strongroom/tracing')) throw error;
    log.warn('there are no traces, because their package is not installed: npm install @strongroom/tracing');
    return undefined;
  }
}
