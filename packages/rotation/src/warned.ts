/** The answer to a call that has nothing to say but, maybe, a warning. */
export function warned(warning: string | undefined): { readonly warnings: readonly string[] } | undefined {
  return warning === undefined ? undefined : { warnings: [warning] };
}
