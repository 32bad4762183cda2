"""The table of standard facets: where each stands, under which key, and what describes it."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from streamt_ol.openlineage.release import facet_id

# The places where a facet may stand, with the core's definition of a facet there.
RUN = "run"
JOB = "job"
DATASET = "dataset"
INPUT_DATASET = "inputDataset"
OUTPUT_DATASET = "outputDataset"
PLACES = {
    RUN: "RunFacet",
    JOB: "JobFacet",
    DATASET: "DatasetFacet",
    INPUT_DATASET: "InputDatasetFacet",
    OUTPUT_DATASET: "OutputDatasetFacet",
}
# Where a facet with ``"_deleted": true`` withdraws an earlier one and needs no body.
DELETABLE = frozenset({JOB, DATASET})


class StandardFacet(NamedTuple):
    """A row of the table: where the facet stands, under which key, and what describes it."""

    place: str
    key: str
    version: str
    definition: str
    file_stem: str = ""

    @property
    def document(self) -> str:
        """The name of the pinned schema document, e.g. ``SchemaDatasetFacet.json``."""
        return f"{self.file_stem or self.definition}.json"

    @property
    def schema_id(self) -> str:
        """The ``$id`` of the pinned schema document."""
        return facet_id(self.version, self.document)

    @property
    def schema_url(self) -> str:
        """The exact ``_schemaURL`` of the facet."""
        return f"{self.schema_id}#/$defs/{self.definition}"


STANDARD_FACETS: tuple[StandardFacet, ...] = (
    StandardFacet(RUN, "environmentVariables", "1-0-0", "EnvironmentVariablesRunFacet"),
    StandardFacet(RUN, "errorMessage", "1-0-1", "ErrorMessageRunFacet"),
    StandardFacet(RUN, "executionParameters", "1-0-0", "ExecutionParametersRunFacet"),
    StandardFacet(RUN, "externalQuery", "1-0-2", "ExternalQueryRunFacet"),
    StandardFacet(RUN, "extractionError", "1-1-2", "ExtractionErrorRunFacet"),
    StandardFacet(RUN, "jobDependencies", "1-0-1", "JobDependenciesRunFacet"),
    StandardFacet(RUN, "nominalTime", "1-0-1", "NominalTimeRunFacet"),
    StandardFacet(RUN, "parent", "1-2-0", "ParentRunFacet"),
    StandardFacet(RUN, "processing_engine", "1-1-1", "ProcessingEngineRunFacet"),
    StandardFacet(RUN, "tags", "1-0-0", "TagsRunFacet"),
    StandardFacet(RUN, "test", "1-0-1", "TestRunFacet"),
    StandardFacet(JOB, "documentation", "1-1-0", "DocumentationJobFacet"),
    StandardFacet(JOB, "jobType", "2-0-4", "JobTypeJobFacet"),
    StandardFacet(JOB, "lineage", "1-0-0", "LineageJobFacet", "LineageFacet"),
    StandardFacet(JOB, "ownership", "1-0-1", "OwnershipJobFacet"),
    StandardFacet(JOB, "sourceCode", "1-0-1", "SourceCodeJobFacet"),
    StandardFacet(JOB, "sourceCodeLocation", "1-1-0", "SourceCodeLocationJobFacet"),
    StandardFacet(JOB, "sql", "1-1-0", "SQLJobFacet"),
    StandardFacet(JOB, "tags", "1-0-0", "TagsJobFacet"),
    StandardFacet(DATASET, "catalog", "1-1-0", "CatalogDatasetFacet"),
    StandardFacet(DATASET, "columnLineage", "1-2-0", "ColumnLineageDatasetFacet"),
    StandardFacet(DATASET, "dataQualityMetrics", "1-0-0", "DataQualityMetricsDatasetFacet"),
    StandardFacet(DATASET, "dataSource", "1-0-1", "DatasourceDatasetFacet"),
    StandardFacet(DATASET, "datasetType", "1-0-1", "DatasetTypeDatasetFacet"),
    StandardFacet(DATASET, "documentation", "1-1-0", "DocumentationDatasetFacet"),
    StandardFacet(DATASET, "hierarchy", "1-0-0", "HierarchyDatasetFacet"),
    StandardFacet(DATASET, "lifecycleStateChange", "1-0-1", "LifecycleStateChangeDatasetFacet"),
    StandardFacet(DATASET, "lineage", "1-0-0", "LineageDatasetFacet", "LineageFacet"),
    StandardFacet(DATASET, "ownership", "1-0-1", "OwnershipDatasetFacet"),
    StandardFacet(DATASET, "schema", "1-2-0", "SchemaDatasetFacet"),
    StandardFacet(DATASET, "storage", "1-0-1", "StorageDatasetFacet"),
    StandardFacet(DATASET, "symlinks", "1-0-1", "SymlinksDatasetFacet"),
    StandardFacet(DATASET, "tags", "1-0-0", "TagsDatasetFacet"),
    StandardFacet(DATASET, "version", "1-0-1", "DatasetVersionDatasetFacet"),
    StandardFacet(
        INPUT_DATASET, "dataQualityAssertions", "1-1-0", "DataQualityAssertionsDatasetFacet"
    ),
    StandardFacet(
        INPUT_DATASET, "dataQualityMetrics", "1-0-3", "DataQualityMetricsInputDatasetFacet"
    ),
    StandardFacet(INPUT_DATASET, "inputStatistics", "1-0-0", "InputStatisticsInputDatasetFacet"),
    StandardFacet(
        INPUT_DATASET, "subset", "1-0-0", "InputSubsetInputDatasetFacet", "BaseSubsetDatasetFacet"
    ),
    StandardFacet(
        OUTPUT_DATASET, "outputStatistics", "1-0-2", "OutputStatisticsOutputDatasetFacet"
    ),
    StandardFacet(
        OUTPUT_DATASET,
        "subset",
        "1-0-0",
        "OutputSubsetOutputDatasetFacet",
        "BaseSubsetDatasetFacet",
    ),
)


@lru_cache(maxsize=1)
def by_place() -> dict[str, dict[str, StandardFacet]]:
    """Return the standard facets of each place by their key."""
    table: dict[str, dict[str, StandardFacet]] = {place: {} for place in PLACES}
    for facet in STANDARD_FACETS:
        table[facet.place][facet.key] = facet
    return table


def schema_url(place: str, key: str) -> str:
    """Return the exact ``_schemaURL`` of the standard facet ``key`` at ``place``."""
    return by_place()[place][key].schema_url
