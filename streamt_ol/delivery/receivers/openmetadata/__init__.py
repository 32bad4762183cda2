"""OpenMetadata's two doors: its HTTP endpoint, and the connector that reads a Kafka topic."""
