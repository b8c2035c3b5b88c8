import { Title } from '@mantine/core';
import { useRight } from '../../api/rights.ts';
import { latencyPlot, leasesPlot, requestsPlot, rotationsPlot } from '../../parts/figure-plots.ts';
import { FigurePlots } from '../../parts/figures.tsx';

const plots = [leasesPlot, rotationsPlot, requestsPlot, latencyPlot];

/** Plots of the last hours, under the rows of the home page. Who may not read figures has none. */
export function Plots() {
  const may = useRight({ path: 'sys/internal/ui/metrics', need: 'read' });
  if (may === 'no') return null;
  return (
    <section aria-labelledby="plots">
      <FigurePlots
        plots={plots}
        beside={
          <Title order={2} size="h4" id="plots">
            This server
          </Title>
        }
      />
    </section>
  );
}
