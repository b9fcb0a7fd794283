"""Kafka's message definitions in the form that ``schema`` describes.

Written by ``make schemas`` from the jars of Kafka 4.4.0, 4.0.1, 3.9.1, 3.5.2; do not edit.
"""

from typing import Final

DEFINITIONS: Final = """
consumer data - ConsumerProtocolAssignment 0-3
 assignedPartitions []TopicPartition
  topic string
  partitions []int32
 userData bytes nullable 0+ default null
consumer data - ConsumerProtocolSubscription 0-3
 topics []string
 userData bytes nullable 0+ default null
 ownedPartitions []TopicPartition 1+
  topic string 1+
  partitions []int32 1+
 generationId int32 2+ default -1
 rackId string 3+ nullable 3+ default null
control value - EndTxnMarker 0
 coordinatorEpoch int32
control value 2 LeaderChangeMessage 0-1 flexible 0+
 version int16
 leaderId int32
 voters []Voter
  voterId int32
  voterDirectoryId uuid 1+
 grantingVoters []Voter
  voterId int32
  voterDirectoryId uuid 1+
control value 3 SnapshotHeaderRecord 0 flexible 0+
 version int16
 lastContainedLogTimestamp int64
control value 4 SnapshotFooterRecord 0 flexible 0+
 version int16
control value 5 KRaftVersionRecord 0 flexible 0+
 version int16
 kRaftVersion int16
control value 6 VotersRecord 0 flexible 0+
 version int16
 voters []Voter
  voterId int32
  voterDirectoryId uuid
  endpoints []Endpoint
   name string
   host string
   port uint16
  kRaftVersionFeature KRaftVersionFeature
   minSupportedVersion int16
   maxSupportedVersion int16
group key 0 LegacyOffsetCommitKey 0
 group string 0
 topic string 0
 partition int32 0
group value 0 LegacyOffsetCommitValue 0
 offset int64 0
 metadata string 0
 commitTimestamp int64 0
group key 1 OffsetCommitKey 0
 group string 0
 topic string 0
 partition int32 0
group value 1 OffsetCommitValue 0-4 flexible 4+
 offset int64
 leaderEpoch int32 3+ default -1
 metadata string
 commitTimestamp int64
 expireTimestamp int64 1 default -1
 topicId uuid 4+ tag 0 4+
group key 2 GroupMetadataKey 0
 group string 0
group value 2 GroupMetadataValue 0-4 flexible 4+
 protocolType string
 generation int32
 protocol string nullable 0+
 leader string nullable 0+
 currentStateTimestamp int64 2+ default -1
 members []MemberMetadata
  memberId string
  groupInstanceId string 3+ nullable 3+ default null
  clientId string
  clientHost string
  rebalanceTimeout int32 1+ default -1
  sessionTimeout int32
  subscription bytes
  assignment bytes
group key 3 ConsumerGroupMetadataKey 0
 groupId string 0
group value 3 ConsumerGroupMetadataValue 0 flexible 0+
 epoch int32
 metadataHash int64 tag 0 0+ default 0
group key 4 ConsumerGroupPartitionMetadataKey 0
 groupId string 0
group value 4 ConsumerGroupPartitionMetadataValue 0 flexible 0+
 topics []TopicMetadata
  topicId uuid
  topicName string
  numPartitions int32
  partitionMetadata []PartitionMetadata
   partition int32
   racks []string
group key 5 ConsumerGroupMemberMetadataKey 0
 groupId string 0
 memberId string 0
group value 5 ConsumerGroupMemberMetadataValue 0 flexible 0+
 instanceId string nullable 0+
 rackId string nullable 0+
 clientId string
 clientHost string
 subscribedTopicNames []string
 subscribedTopicRegex string nullable 0+
 rebalanceTimeoutMs int32 default -1
 serverAssignor string nullable 0+
 classicMemberMetadata ClassicMemberMetadata nullable 0+ tag 0 0+
  sessionTimeoutMs int32
  supportedProtocols []ClassicProtocol
   name string
   metadata bytes
group key 6 ConsumerGroupTargetAssignmentMetadataKey 0
 groupId string 0
group value 6 ConsumerGroupTargetAssignmentMetadataValue 0 flexible 0+
 assignmentEpoch int32
 assignmentTimestamp int64 tag 0 0+ default 0
group key 7 ConsumerGroupTargetAssignmentMemberKey 0
 groupId string 0
 memberId string 0
group value 7 ConsumerGroupTargetAssignmentMemberValue 0 flexible 0+
 topicPartitions []TopicPartition
  topicId uuid
  partitions []int32
group key 8 ConsumerGroupCurrentMemberAssignmentKey 0
 groupId string 0
 memberId string 0
group value 8 ConsumerGroupCurrentMemberAssignmentValue 0 flexible 0+
 memberEpoch int32
 previousMemberEpoch int32
 state int8
 assignedPartitions []TopicPartitions
  topicId uuid
  partitions []int32
  assignmentEpochs []int32 nullable 0+ tag 0 0+
 partitionsPendingRevocation []TopicPartitions
  topicId uuid
  partitions []int32
  assignmentEpochs []int32 nullable 0+ tag 0 0+
group key 10 ShareGroupMemberMetadataKey 0
 groupId string 0
 memberId string 0
group value 10 ShareGroupMemberMetadataValue 0 flexible 0+
 rackId string nullable 0+
 clientId string
 clientHost string
 subscribedTopicNames []string
group key 11 ShareGroupMetadataKey 0
 groupId string 0
group value 11 ShareGroupMetadataValue 0 flexible 0+
 epoch int32
 metadataHash int64
group key 12 ShareGroupTargetAssignmentMetadataKey 0
 groupId string 0
group value 12 ShareGroupTargetAssignmentMetadataValue 0 flexible 0+
 assignmentEpoch int32
 assignmentTimestamp int64 tag 0 0+ default 0
group key 13 ShareGroupTargetAssignmentMemberKey 0
 groupId string 0
 memberId string 0
group value 13 ShareGroupTargetAssignmentMemberValue 0 flexible 0+
 topicPartitions []TopicPartition
  topicId uuid
  partitions []int32
group key 14 ShareGroupCurrentMemberAssignmentKey 0
 groupId string 0
 memberId string 0
group value 14 ShareGroupCurrentMemberAssignmentValue 0 flexible 0+
 memberEpoch int32
 previousMemberEpoch int32
 state int8
 assignedPartitions []TopicPartitions
  topicId uuid
  partitions []int32
group key 15 ShareGroupStatePartitionMetadataKey 0
 groupId string 0
group value 15 ShareGroupStatePartitionMetadataValue 0 flexible 0+
 initializingTopics []TopicPartitionsInfo
  topicId uuid
  topicName string
  partitions []int32
 initializedTopics []TopicPartitionsInfo
  topicId uuid
  topicName string
  partitions []int32
 deletingTopics []TopicInfo
  topicId uuid
  topicName string
group key 16 ConsumerGroupRegularExpressionKey 0
 groupId string 0
 regularExpression string 0
group value 16 ConsumerGroupRegularExpressionValue 0 flexible 0+
 topics []string
 version int64
 timestamp int64
group key 17 StreamsGroupMetadataKey 0
 groupId string 0
group value 17 StreamsGroupMetadataValue 0 flexible 0+
 epoch int32
 metadataHash int64
 validatedTopologyEpoch int32 tag 0 0+ default -1
 lastAssignmentConfigs []LastAssignmentConfig nullable 0+ tag 1 0+
  key string
  value string
 storedDescriptionTopologyEpoch int32 tag 2 0+ default -1
 failedDescriptionTopologyEpoch int32 tag 3 0+ default -1
group key 19 StreamsGroupMemberMetadataKey 0
 groupId string 0
 memberId string 0
group value 19 StreamsGroupMemberMetadataValue 0 flexible 0+
 instanceId string nullable 0+
 rackId string nullable 0+
 clientId string
 clientHost string
 rebalanceTimeoutMs int32 default -1
 topologyEpoch int32
 processId string
 userEndpoint Endpoint nullable 0+ default null
  host string
  port uint16
 clientTags []KeyValue
  key string
  value string
group key 20 StreamsGroupTargetAssignmentMetadataKey 0
 groupId string 0
group value 20 StreamsGroupTargetAssignmentMetadataValue 0 flexible 0+
 assignmentEpoch int32
 assignmentTimestamp int64 tag 0 0+ default 0
group key 21 StreamsGroupTargetAssignmentMemberKey 0
 groupId string 0
 memberId string 0
group value 21 StreamsGroupTargetAssignmentMemberValue 0 flexible 0+
 activeTasks []TaskIds
  subtopologyId string
  partitions []int32
 standbyTasks []TaskIds
  subtopologyId string
  partitions []int32
 warmupTasks []TaskIds
  subtopologyId string
  partitions []int32
group key 22 StreamsGroupCurrentMemberAssignmentKey 0
 groupId string 0
 memberId string 0
group value 22 StreamsGroupCurrentMemberAssignmentValue 0 flexible 0+
 memberEpoch int32
 previousMemberEpoch int32
 state int8
 activeTasks []TaskIds
  subtopologyId string
  partitions []int32
  assignmentEpochs []int32 nullable 0+ tag 0 0+
 standbyTasks []TaskIds
  subtopologyId string
  partitions []int32
  assignmentEpochs []int32 nullable 0+ tag 0 0+
 warmupTasks []TaskIds
  subtopologyId string
  partitions []int32
  assignmentEpochs []int32 nullable 0+ tag 0 0+
 activeTasksPendingRevocation []TaskIds
  subtopologyId string
  partitions []int32
  assignmentEpochs []int32 nullable 0+ tag 0 0+
 standbyTasksPendingRevocation []TaskIds
  subtopologyId string
  partitions []int32
  assignmentEpochs []int32 nullable 0+ tag 0 0+
 warmupTasksPendingRevocation []TaskIds
  subtopologyId string
  partitions []int32
  assignmentEpochs []int32 nullable 0+ tag 0 0+
group key 23 StreamsGroupTopologyKey 0
 groupId string 0
group value 23 StreamsGroupTopologyValue 0 flexible 0+
 epoch int32
 subtopologies []Subtopology
  subtopologyId string
  sourceTopics []string
  sourceTopicRegex []string
  stateChangelogTopics []TopicInfo
   name string
   partitions int32
   replicationFactor int16
   topicConfigs []TopicConfig
    key string
    value string
  repartitionSinkTopics []string
  repartitionSourceTopics []TopicInfo
   name string
   partitions int32
   replicationFactor int16
   topicConfigs []TopicConfig
    key string
    value string
  copartitionGroups []CopartitionGroup
   sourceTopics []int16
   sourceTopicRegex []int16
   repartitionSourceTopics []int16
metadata value 0 RegisterBrokerRecord 0-4 flexible 0+
 brokerId int32
 isMigratingZkBroker bool 2+ default false
 incarnationId uuid
 brokerEpoch int64
 endPoints []BrokerEndpoint
  name string
  host string
  port uint16
  securityProtocol int16
 features []BrokerFeature
  name string
  minSupportedVersion int16
  maxSupportedVersion int16
 rack string nullable 0+
 fenced bool default true
 inControlledShutdown bool 1+ default false
 logDirs []uuid 3+ tag 0 3+
 cordonedLogDirs []uuid 4+ nullable 4+ tag 1 4+ default null
metadata value 1 UnregisterBrokerRecord 0 flexible 0+
 brokerId int32
 brokerEpoch int64
metadata value 2 TopicRecord 0 flexible 0+
 name string
 topicId uuid
metadata value 3 PartitionRecord 0-2 flexible 0+
 partitionId int32 default -1
 topicId uuid
 replicas []int32
 isr []int32
 removingReplicas []int32
 addingReplicas []int32
 leader int32 default -1
 leaderRecoveryState int8 tag 0 0+ default 0
 leaderEpoch int32 default -1
 partitionEpoch int32 default -1
 directories []uuid 1+
 eligibleLeaderReplicas []int32 2+ nullable 2+ tag 1 2+ default null
 lastKnownElr []int32 2+ nullable 2+ tag 2 2+ default null
metadata value 4 ConfigRecord 0 flexible 0+
 resourceType int8
 resourceName string
 name string
 value string nullable 0+
metadata value 5 PartitionChangeRecord 0-2 flexible 0+
 partitionId int32 default -1
 topicId uuid
 isr []int32 nullable 0+ tag 0 0+ default null
 leader int32 tag 1 0+ default -2
 replicas []int32 nullable 0+ tag 2 0+ default null
 removingReplicas []int32 nullable 0+ tag 3 0+ default null
 addingReplicas []int32 nullable 0+ tag 4 0+ default null
 leaderRecoveryState int8 tag 5 0+ default -1
 directories []uuid 1+ nullable 1+ tag 8 1+ default null
 eligibleLeaderReplicas []int32 2+ nullable 2+ tag 6 2+ default null
 lastKnownElr []int32 2+ nullable 2+ tag 7 2+ default null
metadata value 7 FenceBrokerRecord 0 flexible 0+
 id int32
 epoch int64
metadata value 8 UnfenceBrokerRecord 0 flexible 0+
 id int32
 epoch int64
metadata value 9 RemoveTopicRecord 0 flexible 0+
 topicId uuid
metadata value 10 DelegationTokenRecord 0 flexible 0+
 owner string
 requester string
 renewers []string
 issueTimestamp int64
 maxTimestamp int64
 expirationTimestamp int64
 tokenId string
metadata value 11 UserScramCredentialRecord 0 flexible 0+
 name string
 mechanism int8
 salt bytes
 storedKey bytes
 serverKey bytes
 iterations int32
metadata value 12 FeatureLevelRecord 0 flexible 0+
 name string
 featureLevel int16
metadata value 14 ClientQuotaRecord 0 flexible 0+
 entity []EntityData
  entityType string
  entityName string nullable 0+
 key string
 value float64
 remove bool
metadata value 15 ProducerIdsRecord 0 flexible 0+
 brokerId int32
 brokerEpoch int64 default -1
 nextProducerId int64
metadata value 17 BrokerRegistrationChangeRecord 0-3 flexible 0+
 brokerId int32
 brokerEpoch int64
 fenced int8 tag 0 0+
 inControlledShutdown int8 1+ tag 1 1+
 logDirs []uuid 2+ tag 2 2+
 cordonedLogDirs []uuid 3+ nullable 3+ tag 3 3+ default null
metadata value 18 AccessControlEntryRecord 0 flexible 0+
 id uuid
 resourceType int8
 resourceName string
 patternType int8
 principal string
 host string
 operation int8
 permissionType int8
metadata value 19 RemoveAccessControlEntryRecord 0 flexible 0+
 id uuid
metadata value 20 NoOpRecord 0 flexible 0+
metadata value 21 ZkMigrationStateRecord 0 flexible 0+
 zkMigrationState int8
metadata value 22 RemoveUserScramCredentialRecord 0 flexible 0+
 name string
 mechanism int8
metadata value 23 BeginTransactionRecord 0 flexible 0+
 name string nullable 0+ tag 0 0+ default null
metadata value 24 EndTransactionRecord 0 flexible 0+
metadata value 25 AbortTransactionRecord 0 flexible 0+
 reason string nullable 0+ tag 0 0+ default null
metadata value 26 RemoveDelegationTokenRecord 0 flexible 0+
 tokenId string
metadata value 27 RegisterControllerRecord 0 flexible 0+
 controllerId int32
 incarnationId uuid
 zkMigrationReady bool
 endPoints []ControllerEndpoint
  name string
  host string
  port uint16
  securityProtocol int16
 features []ControllerFeature
  name string
  minSupportedVersion int16
  maxSupportedVersion int16
metadata value 28 ClearElrRecord 0 flexible 0+
 topicName string
metadata value 29 UnregisterControllerRecord 0 flexible 0+
 controllerId int32
remote value 0 RemoteLogSegmentMetadataRecord 0 flexible 0+
 remoteLogSegmentId RemoteLogSegmentIdEntry
  topicIdPartition TopicIdPartitionEntry
   name string
   id uuid
   partition int32
  id uuid
 startOffset int64
 endOffset int64
 brokerId int32
 maxTimestampMs int64
 eventTimestampMs int64
 segmentLeaderEpochs []SegmentLeaderEpochEntry
  leaderEpoch int32
  offset int64
 segmentSizeInBytes int32
 customMetadata bytes nullable 0+ default null
 remoteLogSegmentState int8
 txnIndexEmpty bool tag 0 0+
remote value 1 RemoteLogSegmentMetadataUpdateRecord 0 flexible 0+
 remoteLogSegmentId RemoteLogSegmentIdEntry
  topicIdPartition TopicIdPartitionEntry
   name string
   id uuid
   partition int32
  id uuid
 brokerId int32
 eventTimestampMs int64
 customMetadata bytes nullable 0+ default null
 remoteLogSegmentState int8
remote value 2 RemotePartitionDeleteMetadataRecord 0 flexible 0+
 topicIdPartition TopicIdPartitionEntry
  name string
  id uuid
  partition int32
 brokerId int32
 eventTimestampMs int64
 remotePartitionDeleteState int8
remote value 3 RemoteLogSegmentMetadataSnapshotRecord 0 flexible 0+
 segmentId uuid
 startOffset int64
 endOffset int64
 brokerId int32
 maxTimestampMs int64
 eventTimestampMs int64
 segmentLeaderEpochs []SegmentLeaderEpochEntry
  leaderEpoch int32
  offset int64
 segmentSizeInBytes int32
 customMetadata bytes nullable 0+ default null
 remoteLogSegmentState int8
 txnIndexEmpty bool tag 0 0+
share key 0 ShareSnapshotKey 0
 groupId string 0
 topicId uuid 0
 partition int32 0
share value 0 ShareSnapshotValue 0 flexible 0+
 snapshotEpoch int32
 stateEpoch int32
 leaderEpoch int32
 startOffset int64
 deliveryCompleteCount int32 tag 0 0+ default -1
 createTimestamp int64
 writeTimestamp int64
 stateBatches []StateBatch
  firstOffset int64
  lastOffset int64
  deliveryState int8
  deliveryCount int16
share key 1 ShareUpdateKey 0
 groupId string 0
 topicId uuid 0
 partition int32 0
share value 1 ShareUpdateValue 0 flexible 0+
 snapshotEpoch int32
 leaderEpoch int32
 startOffset int64
 deliveryCompleteCount int32 tag 0 0+ default -1
 stateBatches []StateBatch
  firstOffset int64
  lastOffset int64
  deliveryState int8
  deliveryCount int16
transaction key 0 TransactionLogKey 0
 transactionalId string 0
transaction value 0 TransactionLogValue 0-1 flexible 1+
 producerId int64
 previousProducerId int64 1+ tag 0 1+ default -1
 nextProducerId int64 1+ tag 1 1+ default -1
 producerEpoch int16
 nextProducerEpoch int16 1+ tag 3 1+ default -1
 transactionTimeoutMs int32
 transactionStatus int8
 transactionPartitions []PartitionsSchema nullable 0+
  topic string
  partitionIds []int32
 transactionLastUpdateTimestampMs int64
 transactionStartTimestampMs int64
 clientTransactionVersion int16 1+ tag 2 1+ default 0
group key 9 ShareGroupPartitionMetadataKey 9 until 4.0.1
 groupId string 9
group value 9 ShareGroupPartitionMetadataValue 0 flexible 0+ until 4.0.1
 topics []TopicMetadata
  topicId uuid
  topicName string
  numPartitions int32
  partitionMetadata []PartitionMetadata
   partition int32
   racks []string
group value 11 ShareGroupMetadataValue 0 flexible 0+ until 4.0.1
 epoch int32
group value 15 ShareGroupStatePartitionMetadataValue 0 flexible 0+ until 4.0.1
 initializedTopics []TopicPartitionsInfo
  topicId uuid
  topicName string
  partitions []int32
 deletingTopics []TopicInfo
  topicId uuid
  topicName string
share value 0 ShareSnapshotValue 0 flexible 0+ until 4.0.1
 snapshotEpoch uint16 0
 stateEpoch int32
 leaderEpoch int32
 startOffset int64 0
 stateBatches []StateBatch 0
  firstOffset int64 0
  lastOffset int64 0
  deliveryState int8 0
  deliveryCount int16 0
share value 1 ShareUpdateValue 0 flexible 0+ until 4.0.1
 snapshotEpoch uint16 0
 leaderEpoch int32
 startOffset int64 0
 stateBatches []StateBatch 0
  firstOffset int64 0
  lastOffset int64 0
  deliveryState int8 0
  deliveryCount int16 0
group value 9 ShareGroupPartitionMetadataValue 0 flexible 0+ until 3.9.1
 initializedTopics []TopicPartitionsInfo
  topicId uuid
  topicName string
  partitions []int32
 deletingTopics []TopicInfo
  topicId uuid
  topicName string
group value 4 ConsumerGroupPartitionMetadataValue 0 flexible 0+ until 3.5.2
 epoch int32
 topics []TopicMetadata
  topicId uuid
  numPartitions int32
group value 5 ConsumerGroupMemberMetadataValue 0 flexible 0+ until 3.5.2
 groupEpoch int32
 instanceId string nullable 0+
 rackId string nullable 0+
 clientId string
 clientHost string
 subscribedTopicNames []string
 subscribedTopicRegex string nullable 0+
 assignors []Assignor
  name string
  minimumVersion int16
  maximumVersion int16
  reason int8
  version int16
  metadata bytes
group value 7 ConsumerGroupTargetAssignmentMemberValue 0 flexible 0+ until 3.5.2
 error int8
 topicPartitions []TopicPartition
  topicId uuid
  partitions []int32
 metadataVersion int16
 metadataBytes bytes
group value 8 ConsumerGroupCurrentMemberAssignmentValue 0 flexible 0+ until 3.5.2
 memberEpoch int32
 error int8
 topicPartitions []TopicPartition
  topicId uuid
  partitions []int32
 metadataVersion int16
 metadataBytes bytes
metadata value 10 DelegationTokenRecord 0 flexible 0+ until 3.5.2
 owner string
 renewers []string
 issueTimestamp int64
 maxTimestamp int64
 expirationTimestamp int64
 tokenId string
remote value 0 RemoteLogSegmentMetadataRecord 0 flexible 0+ until 3.5.2
 remoteLogSegmentId RemoteLogSegmentIdEntry
  topicIdPartition TopicIdPartitionEntry
   name string
   id uuid
   partition int32
  id uuid
 startOffset int64
 endOffset int64
 brokerId int32
 maxTimestampMs int64
 eventTimestampMs int64
 segmentLeaderEpochs []SegmentLeaderEpochEntry
  leaderEpoch int32
  offset int64
 segmentSizeInBytes int32
 remoteLogSegmentState int8
remote value 1 RemoteLogSegmentMetadataUpdateRecord 0 flexible 0+ until 3.5.2
 remoteLogSegmentId RemoteLogSegmentIdEntry
  topicIdPartition TopicIdPartitionEntry
   name string
   id uuid
   partition int32
  id uuid
 brokerId int32
 eventTimestampMs int64
 remoteLogSegmentState int8
remote value 3 RemoteLogSegmentMetadataSnapshotRecord 0 flexible 0+ until 3.5.2
 segmentId uuid
 startOffset int64
 endOffset int64
 brokerId int32
 maxTimestampMs int64
 eventTimestampMs int64
 segmentLeaderEpochs []SegmentLeaderEpochEntry
  leaderEpoch int32
  offset int64
 segmentSizeInBytes int32
 remoteLogSegmentState int8
"""
